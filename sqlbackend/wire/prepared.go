package wire

import (
	"context"
	"strconv"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// maxParams is MySQL's limit on parameters in one statement.
const maxParams = 65535

// Prepared is a statement that has been parsed and checked and can run many
// times on the session that prepared it.
type Prepared struct {
	// Text is the statement as the engine knows it.
	Text string
	// Params is the number of parameters.
	Params int
	// Schema describes the rows that it will give, empty for none.
	Schema sql.Schema

	stmt ast.Statement
}

// Prepare parses text, which must be one statement, and resolves its names.
// Nothing runs. Errors are *mysql.SQLError.
func (s *Session) Prepare(ctx context.Context, text string) (*Prepared, error) {
	return s.prepareText(ctx, text, true)
}

// Parse is Prepare without resolving names: it is cheaper for a statement that
// is about to run anyway. The result has no Schema.
func (s *Session) Parse(ctx context.Context, text string) (*Prepared, error) {
	return s.prepareText(ctx, text, false)
}

func (s *Session) prepareText(ctx context.Context, text string, resolve bool) (*Prepared, error) {
	r, err := s.start(ctx, text)
	if err != nil {
		return nil, MapErr(err)
	}
	var p *Prepared
	err = s.guard(func() error {
		text, err := decodeText(r.ctx, text)
		if err != nil {
			return err
		}
		p, err = s.prepare(r, text, resolve)
		return err
	})
	if err != nil {
		return nil, s.abort(r, err)
	}
	s.finish(r)
	return p, nil
}

func (s *Session) prepare(r *run, text string, resolve bool) (*Prepared, error) {
	stmt, body, _, err := s.parse(r.ctx, text, false)
	if err != nil {
		return nil, err
	}
	if stmt == nil {
		return nil, newError(erEmptyQuery, "Query was empty")
	}
	r.stmt = stmt
	switch stmt.(type) {
	case *ast.Prepare, *ast.Execute, *ast.Deallocate, *ast.Load, *ast.LockTables, *ast.UnlockTables:
		return nil, newError(erUnsupportedPS, "This command is not supported in the prepared statement protocol yet")
	}
	params := countParams(r.ctx, stmt, body)
	if params > maxParams {
		return nil, newError(erPSManyParam, "Prepared statement contains too many placeholders")
	}
	p := &Prepared{Text: body, Params: params, stmt: stmt}
	if !resolve {
		return p, nil
	}
	key := sql.RemoveSpaceAndDelimiter(body, ';')
	node, err := s.r.engine.PrepareParsedQuery(r.ctx, key, key, stmt)
	s.sess.UnprepareQuery(key)
	if err != nil {
		return nil, err
	}
	if !givesNoRows(r.ctx, node) {
		p.Schema = node.Schema(r.ctx)
	}
	return p, nil
}

// givesNoRows: the nodes of DML have a row schema until they are analysed.
func givesNoRows(ctx *sql.Context, node sql.Node) bool {
	switch n := node.(type) {
	case *plan.InsertInto:
		return n.Returning == nil
	case *plan.Update, *plan.UpdateJoin, *plan.DeleteFrom:
		return true
	}
	return types.IsOkResultSchema(node.Schema(ctx))
}

// paramName is what the parser calls the parameter at index i.
func paramName(i int) string { return "v" + strconv.Itoa(i+1) }

// Execute runs a prepared statement with one expression per parameter.
func (s *Session) Execute(ctx context.Context, p *Prepared, args []ast.Expr) (*Result, error) {
	r, err := s.start(ctx, p.Text)
	if err != nil {
		return nil, MapErr(err)
	}
	s.r.statements.Add(1)
	var res *Result
	err = s.guard(func() error {
		if len(args) != p.Params {
			return newError(erWrongArguments, "Incorrect arguments to mysqld_stmt_execute")
		}
		res, err = s.executePrepared(r, p, args)
		return err
	})
	if err != nil {
		return nil, s.abort(r, err)
	}
	return res, nil
}

// executePrepared lends the parsed statement to the engine for this run only:
// the engine finds prepared statements by their text in the session, and left
// there they would live as long as the session.
func (s *Session) executePrepared(r *run, p *Prepared, args []ast.Expr) (*Result, error) {
	if p.Params == 0 {
		return s.execute(r, p.Text, p.stmt, nil)
	}
	key := sql.RemoveSpaceAndDelimiter(p.Text, ';')
	s.sess.PrepareQuery(key, p.stmt)
	defer s.unprepare(key)
	binds := make(map[string]ast.Expr, len(args))
	for i, a := range args {
		binds[paramName(i)] = a
	}
	return s.execute(r, key, p.stmt, binds)
}

func (s *Session) unprepare(key string) {
	if s.sess != nil {
		s.sess.UnprepareQuery(key)
	}
}

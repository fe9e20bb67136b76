package parser

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// LockMarker begins the AS OF text by which a table learns that the rows it
// returns are to be locked: LockMarker + mode + ":" + wait, with mode "x"
// (FOR UPDATE) or "s" (FOR SHARE), wait "wait", "nowait" or "skip".
const LockMarker = "ksql-lock:"

// lockTable begins the pseudo table names in FOR UPDATE OF that carry lock
// clauses which the engine's grammar lacks: lockTable + mode + ":" + wait [":" + table].
const lockTable = "ksql-lock:"

// lockRequest is one locking clause.
type lockRequest struct {
	mode, wait string
	table      string // lower case; "" is every table of the query block
}

// lockRequests reads a lock clause.
func lockRequests(l *ast.Lock) []lockRequest {
	typ := strings.ToLower(l.Type)
	r := lockRequest{mode: "x", wait: "wait"}
	if strings.Contains(typ, "share mode") {
		r.mode = "s"
	}
	switch {
	case strings.HasSuffix(typ, "skip locked"):
		r.wait = "skip"
	case strings.HasSuffix(typ, "nowait"):
		r.wait = "nowait"
	}
	if len(l.Tables) == 0 {
		return []lockRequest{r}
	}
	var out []lockRequest
	for _, t := range l.Tables {
		name := t.Name.String()
		if spec, ok := strings.CutPrefix(name, lockTable); ok {
			p := strings.SplitN(spec, ":", 3)
			q := lockRequest{mode: p[0], wait: p[1]}
			if len(p) == 3 {
				q.table = strings.ToLower(p[2])
			}
			out = append(out, q)
			continue
		}
		q := r
		q.table = strings.ToLower(name)
		out = append(out, q)
	}
	return out
}

// lockSetOp: the clause behind a UNION belongs to its last query block.
func (w *walker) lockSetOp(n *ast.SetOp, in *scope) {
	if s, ok := n.Right.(*ast.Select); ok {
		w.lock(n.Lock, s.From, in)
	}
}

// lock moves a lock clause of a query block to the base tables it names. As in
// MySQL it does not reach into derived tables and common table expressions.
func (w *walker) lock(l *ast.Lock, from ast.TableExprs, in *scope) {
	if l.Type == "" {
		return
	}
	requests := lockRequests(l)
	found := make([]bool, len(requests))
	for _, e := range from {
		w.lockTables(e, requests, found, in)
	}
	for i, r := range requests {
		if r.table != "" && !found[i] && w.err == nil {
			w.err = mysql.NewSQLError(erUnresolvedLock, "HY000", "Unresolved table name `%s` in locking clause.", r.table)
		}
	}
}

func (w *walker) lockTables(e ast.TableExpr, requests []lockRequest, found []bool, in *scope) {
	switch x := e.(type) {
	case *ast.JoinTableExpr:
		w.lockTables(x.LeftExpr, requests, found, in)
		w.lockTables(x.RightExpr, requests, found, in)
	case *ast.ParenTableExpr:
		for _, y := range x.Exprs {
			w.lockTables(y, requests, found, in)
		}
	case *ast.AliasedTableExpr:
		w.lockTable(x, requests, found, in)
	}
}

func (w *walker) lockTable(x *ast.AliasedTableExpr, requests []lockRequest, found []bool, in *scope) {
	table, base := x.Expr.(ast.TableName)
	name := strings.ToLower(x.As.String())
	if name == "" {
		name = strings.ToLower(table.Name.String())
	}
	var request *lockRequest
	for i := range requests {
		if requests[i].table != "" && requests[i].table != name {
			continue
		}
		if found[i] = true; request != nil && w.err == nil {
			w.err = mysql.NewSQLError(erDuplicateLock, "HY000", "Table `%s` appears in multiple locking clauses.", name)
			return
		}
		request = &requests[i]
	}
	if request == nil || !base || w.unlockable(table, in) {
		return
	}
	if x.AsOf != nil {
		if isLockMarker(x.AsOf) {
			return
		}
		w.err = mysql.NewSQLError(erReadOnlyTransaction, "25006", "Cannot execute statement in a READ ONLY transaction.")
		return
	}
	x.AsOf = &ast.AsOf{Time: ast.NewStrVal([]byte(LockMarker + request.mode + ":" + request.wait))}
}

// unlockable says whether a name is no stored table of a user's database.
func (w *walker) unlockable(t ast.TableName, in *scope) bool {
	db := strings.ToLower(t.DbQualifier.String())
	name := strings.ToLower(t.Name.String())
	if db == "" {
		if name == "dual" || in.isCTE(name) {
			return true
		}
		if c, ok := w.ctx.(*sql.Context); ok && c != nil && c.Session != nil {
			db = strings.ToLower(c.GetCurrentDatabase())
		}
	}
	switch db {
	case "information_schema", "performance_schema", "mysql", "sys", "ksql":
		return true
	}
	return false
}

// isLockMarker says whether an AS OF clause was made from a lock clause.
func isLockMarker(a *ast.AsOf) bool {
	v, ok := a.Time.(*ast.SQLVal)
	return ok && v.Type == ast.StrVal && strings.HasPrefix(string(v.Val), LockMarker)
}

package wire

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// ConnInfo says who is behind a connection. The assembly's session builder
// receives it.
type ConnInfo struct {
	// ID is the connection id, unique in the process list.
	ID uint32
	// User and Host are what the client said and where it is: Host is
	// "localhost" for unix sockets and loopback addresses.
	User, Host string
	// AccountUser and AccountHost name the account that matched ('%' and
	// patterns included): CURRENT_USER().
	AccountUser, AccountHost string
	// Addr is the client's address with port, "" in process.
	Addr string
	// Capabilities are the CLIENT_* flags in effect.
	Capabilities uint32
	// Collation is the id of the collation that the client asked for in the
	// handshake, 0 for the server's default.
	Collation uint16
	// Database is the initial database, "" for none.
	Database string
	// Attributes are the client's connection attributes (program_name, …).
	Attributes map[string]string
	// TLSVersion and TLSCipher name what protects an encrypted connection; both
	// are "" on others.
	TLSVersion, TLSCipher string
	// Embedded is true for sessions opened in process.
	Embedded bool
}

// Options configure a Runner.
type Options struct {
	// Engine runs the statements. Required.
	Engine *sqle.Engine
	// Parser turns text into statements; nil means the engine's.
	Parser sql.Parser
	// NewSession builds the engine's session for a connection. Required.
	NewSession func(ctx context.Context, info ConnInfo) (sql.Session, error)
	// IsRestart says whether an error asks for the statement to be run again
	// from its start, with its locks kept. Nil means never.
	IsRestart func(error) bool
	// Logf receives what an operator should see: panics and protocol faults.
	// Nil means nothing is logged.
	Logf func(format string, args ...any)
}

// Restarter is implemented by sessions whose statements may have to run again;
// it is called between two runs.
type Restarter interface {
	// RestartStatement undoes what the session remembers of the failed run.
	RestartStatement(ctx *sql.Context) error
}

// StatementAnnouncer is implemented by sessions that want to see a statement's
// tree before the engine plans it, each time but the restarts. An error refuses
// the statement. A session that was told of a statement may ask for it to run
// again (Options.IsRestart); it is also told of statements inside procedures.
type StatementAnnouncer interface {
	AnnounceStatement(ctx *sql.Context, stmt ast.Statement) error
}

// announce tells the session of stmt, if it wants to know.
func announce(ctx *sql.Context, stmt ast.Statement) error {
	if a, ok := ctx.Session.(StatementAnnouncer); ok && stmt != nil {
		return a.AnnounceStatement(ctx, stmt)
	}
	return nil
}

// Runner runs statements on one engine for any number of sessions.
type Runner struct {
	engine     *sqle.Engine
	parser     sql.Parser
	newSession func(ctx context.Context, info ConnInfo) (sql.Session, error)
	isRestart  func(error) bool
	logf       func(format string, args ...any)

	procs   *processList
	pid     atomic.Uint64
	started time.Time
	// statements counts what clients sent; slow counts those beyond
	// long_query_time.
	statements atomic.Uint64
	slow       atomic.Uint64
}

// NewRunner installs the statement path on o.Engine: its process list becomes
// the runner's, and statements inside procedures run through the runner too.
// It must be called before the engine is used.
func NewRunner(o Options) (*Runner, error) {
	if o.Engine == nil || o.NewSession == nil {
		return nil, errors.New("wire: Options.Engine and Options.NewSession are required")
	}
	r := &Runner{
		engine: o.Engine, parser: o.Parser, newSession: o.NewSession,
		isRestart: o.IsRestart, logf: o.Logf,
		procs: newProcessList(), started: time.Now(),
	}
	if r.parser == nil {
		r.parser = o.Engine.Parser
	}
	if r.isRestart == nil {
		r.isRestart = func(error) bool { return false }
	}
	if r.logf == nil {
		r.logf = func(string, ...any) {}
	}
	r.engine.ProcessList = r.procs
	inner := &innerRunner{r: r, next: r.engine.Analyzer.Runner}
	r.engine.Analyzer.Runner = inner
	r.engine.Analyzer.ExecBuilder.Runner = inner
	return r, nil
}

// ProcessList is the list behind SHOW PROCESSLIST and KILL; contexts that the
// assembly makes itself (events, background work) need it.
func (r *Runner) ProcessList() sql.ProcessList { return r.procs }

// Engine returns the engine that the runner was made with.
func (r *Runner) Engine() *sqle.Engine { return r.engine }

// Statements returns how many statements clients have sent.
func (r *Runner) Statements() uint64 { return r.statements.Load() }

// Connections returns how many connections are in the process list.
func (r *Runner) Connections() int { return r.procs.count() }

// Uptime returns how long the runner has existed.
func (r *Runner) Uptime() time.Duration { return time.Since(r.started) }

// Kill interrupts the statement of connection id (KILL QUERY), or ends the
// connection too. An unknown id is error 1094.
func (r *Runner) Kill(id uint32, connection bool) error {
	if connection {
		return r.procs.killConnection(id)
	}
	if r.procs.get(id) == nil {
		return newError(erNoSuchThread, "Unknown thread id: %d", id)
	}
	r.procs.Kill(id)
	return nil
}

// KillAll interrupts every running statement and ends every connection.
func (r *Runner) KillAll() {
	for _, p := range r.procs.snapshot() {
		p.interrupt(ErrQueryKilled)
		p.kill()
	}
}

// sessionInt reads an integer system variable of a session, or def.
func sessionInt(ctx *sql.Context, name string, def int64) int64 {
	v, err := ctx.GetSessionVariable(ctx, name)
	if err != nil {
		return def
	}
	return toInt(v, def)
}

// globalInt reads an integer global system variable, or def.
func globalInt(name string, def int64) int64 {
	if sql.SystemVariables == nil {
		return def
	}
	_, v, ok := sql.SystemVariables.GetGlobal(name)
	if !ok {
		return def
	}
	return toInt(v, def)
}

func toInt(v any, def int64) int64 {
	switch n := v.(type) {
	case int8:
		return int64(n)
	case int16:
		return int64(n)
	case int32:
		return int64(n)
	case int64:
		return n
	case int:
		return int64(n)
	case uint8:
		return int64(n)
	case uint16:
		return int64(n)
	case uint32:
		return int64(n)
	case uint64:
		return int64(min(n, 1<<62))
	case float64:
		return int64(n)
	case bool:
		if n {
			return 1
		}
		return 0
	}
	return def
}

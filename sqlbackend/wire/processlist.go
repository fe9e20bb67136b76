package wire

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
)

// Causes for which a running statement's context is cancelled. MapErr knows
// them, and code below may return them as they are (context.Cause).
var (
	// ErrQueryKilled is KILL QUERY, KILL CONNECTION and a shutdown: 1317.
	ErrQueryKilled = errors.New("query killed")
	// ErrStatementTimeout is max_execution_time: 3024.
	ErrStatementTimeout = errors.New("maximum statement execution time exceeded")
	// ErrClientGone says that the client closed its socket while its statement
	// ran.
	ErrClientGone = errors.New("client closed the connection")
)

// process is one connection in the process list.
type process struct {
	id   uint32
	addr string
	kill func() // ends the connection; never nil

	mu       sync.Mutex
	user     string
	host     string
	database string
	command  sql.ProcessCommand
	query    string
	pid      uint64
	since    time.Time
	cancel   context.CancelCauseFunc // of the running statement, nil when idle
}

// processList is the engine's sql.ProcessList. Unlike the engine's own it
// cancels with a cause, takes one lock per connection instead of a global one
// per statement, and ignores EndQuery from inside the engine: the statement
// path ends a statement, not the iterator that happens to close first.
type processList struct {
	mu    sync.RWMutex
	procs map[uint32]*process
	next  uint32

	running atomic.Int64
}

var _ sql.ProcessList = (*processList)(nil)

func newProcessList() *processList {
	return &processList{procs: map[uint32]*process{}}
}

// add registers a connection under a fresh id.
func (pl *processList) add(addr string, kill func()) *process {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	for {
		pl.next++
		if _, taken := pl.procs[pl.next]; !taken && pl.next != 0 {
			break
		}
	}
	p := newProcess(pl.next, addr, kill)
	pl.procs[p.id] = p
	countConnect(len(pl.procs))
	return p
}

func newProcess(id uint32, addr string, kill func()) *process {
	return &process{
		id: id, addr: addr, kill: kill, host: addr,
		user: "unauthenticated user", command: sql.ProcessCommandConnect, since: time.Now(),
	}
}

// countConnect keeps the engine's status variables about connections.
func countConnect(connected int) {
	if sql.StatusVariables == nil {
		return
	}
	sql.StatusVariables.IncrementGlobal("Connections", 1)
	sql.StatusVariables.IncrementGlobal("Threads_connected", 1)
	if _, v, ok := sql.StatusVariables.GetGlobal("Max_used_connections"); ok {
		if most, ok := v.(uint64); ok && uint64(connected) > most {
			_ = sql.StatusVariables.SetGlobal("Max_used_connections", uint64(connected)) // an unknown name is no harm
		}
	}
}

func (pl *processList) get(id uint32) *process {
	pl.mu.RLock()
	defer pl.mu.RUnlock()
	return pl.procs[id]
}

func (pl *processList) count() int {
	pl.mu.RLock()
	defer pl.mu.RUnlock()
	return len(pl.procs)
}

func (pl *processList) snapshot() []*process {
	pl.mu.RLock()
	defer pl.mu.RUnlock()
	out := make([]*process, 0, len(pl.procs))
	for _, p := range pl.procs {
		out = append(out, p)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].id < out[j].id })
	return out
}

// ready moves a connection to Sleep under its user.
func (p *process) ready(user, host, database string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.user, p.host, p.database = user, host, database
	p.command, p.since = sql.ProcessCommandSleep, time.Now()
}

// begin marks a statement as running.
func (p *process) begin(query string, pid uint64, cancel context.CancelCauseFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.command, p.query, p.pid = sql.ProcessCommandQuery, query, pid
	p.since, p.cancel = time.Now(), cancel
}

// end returns the connection to Sleep.
func (p *process) end(database string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.command, p.query, p.pid = sql.ProcessCommandSleep, "", 0
	p.since, p.cancel, p.database = time.Now(), nil, database
}

// interrupt cancels the running statement, if there is one.
func (p *process) interrupt(cause error) {
	p.mu.Lock()
	cancel := p.cancel
	p.mu.Unlock()
	if cancel != nil {
		cancel(cause)
	}
}

// Processes implements sql.ProcessList.
func (pl *processList) Processes() []sql.Process {
	procs := pl.snapshot()
	out := make([]sql.Process, 0, len(procs))
	for _, p := range procs {
		p.mu.Lock()
		out = append(out, sql.Process{
			Connection: p.id, User: p.user, Host: p.host, Database: p.database,
			Command: p.command, Query: p.query, QueryPid: p.pid, StartedAt: p.since,
			Kill: func() { p.interrupt(ErrQueryKilled) },
		})
		p.mu.Unlock()
	}
	return out
}

// AddConnection implements sql.ProcessList for callers inside the engine that
// bring their own connection id.
func (pl *processList) AddConnection(id uint32, addr string) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	pl.procs[id] = newProcess(id, addr, func() {})
	countConnect(len(pl.procs))
}

// ConnectionReady implements sql.ProcessList.
func (pl *processList) ConnectionReady(sess sql.Session) {
	if p := pl.get(sess.ID()); p != nil {
		c := sess.Client()
		p.ready(c.User, c.Address, sess.GetCurrentDatabase())
	}
}

// RemoveConnection implements sql.ProcessList.
func (pl *processList) RemoveConnection(id uint32) {
	pl.mu.Lock()
	p := pl.procs[id]
	delete(pl.procs, id)
	pl.mu.Unlock()
	if p == nil {
		return
	}
	if sql.StatusVariables != nil {
		sql.StatusVariables.IncrementGlobal("Threads_connected", -1)
	}
	p.interrupt(ErrQueryKilled)
}

// BeginQuery implements sql.ProcessList for statements that the engine starts
// by itself; client statements use process.begin.
func (pl *processList) BeginQuery(ctx *sql.Context, query string) (*sql.Context, error) {
	if ctx.IsInterpreted() {
		return ctx, nil
	}
	p := pl.get(ctx.Session.ID())
	if p == nil {
		return nil, fmt.Errorf("connection %d is not in the process list", ctx.Session.ID())
	}
	inner, cancel := context.WithCancelCause(ctx.Context)
	p.begin(query, ctx.Pid(), cancel)
	return ctx.WithContext(inner), nil
}

// EndQuery implements sql.ProcessList. The engine's iterators call it when
// they close, which is before the statement is over.
func (pl *processList) EndQuery(*sql.Context) {}

// BeginOperation implements sql.ProcessList.
func (pl *processList) BeginOperation(ctx *sql.Context) (*sql.Context, error) { return ctx, nil }

// EndOperation implements sql.ProcessList.
func (pl *processList) EndOperation(*sql.Context) {}

// Kill implements sql.ProcessList: KILL QUERY.
func (pl *processList) Kill(id uint32) {
	if p := pl.get(id); p != nil {
		p.interrupt(ErrQueryKilled)
	}
}

// killConnection is KILL CONNECTION.
func (pl *processList) killConnection(id uint32) error {
	p := pl.get(id)
	if p == nil {
		return newError(erNoSuchThread, "Unknown thread id: %d", id)
	}
	p.interrupt(ErrQueryKilled)
	p.kill()
	return nil
}

// The engine reports progress per table and partition; SHOW PROCESSLIST here
// shows statements only, so the reports cost nothing.

// UpdateTableProgress implements sql.ProcessList.
func (pl *processList) UpdateTableProgress(uint64, string, int64) {}

// UpdatePartitionProgress implements sql.ProcessList.
func (pl *processList) UpdatePartitionProgress(uint64, string, string, int64) {}

// AddTableProgress implements sql.ProcessList.
func (pl *processList) AddTableProgress(uint64, string, int64) {}

// AddPartitionProgress implements sql.ProcessList.
func (pl *processList) AddPartitionProgress(uint64, string, string, int64) {}

// RemoveTableProgress implements sql.ProcessList.
func (pl *processList) RemoveTableProgress(uint64, string) {}

// RemovePartitionProgress implements sql.ProcessList.
func (pl *processList) RemovePartitionProgress(uint64, string, string) {}

package catalog

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/information_schema"

	"ksql/tablet"
)

// DefaultCollation is the collation of a server, database or table that names none.
const DefaultCollation = sql.Collation_utf8mb4_0900_ai_ci

// Options of Open.
type Options struct {
	// Function finds functions beyond the engine's own; nil = none.
	Function func(ctx *sql.Context, name string) (sql.Function, bool)
	// MapError turns any error into MySQL's, for warnings; nil = only those
	// that this package knows.
	MapError func(err error) error
}

// Provider shows one data folder's databases to the engine.
type Provider struct {
	manager *tablet.Manager
	options Options
	current atomic.Pointer[snapshot]
	locks   *metadataLocks
	// autoIncrement orders steps of more than one.
	autoIncrement sync.Mutex

	// leftTemporary are the temporary tables that Open found.
	leftTemporary []*temporaryRecord

	mu         sync.Mutex
	privileges []byte            // serialised grant tables as loaded or last saved
	variables  map[string][]byte // SET PERSIST values, JSON, by lower-case name
}

var (
	_ sql.MutableDatabaseProvider  = (*Provider)(nil)
	_ sql.CollatedDatabaseProvider = (*Provider)(nil)
	_ sql.FunctionProvider         = (*Provider)(nil)
)

// Open reads the definitions of the manager's folder and drops temporary
// tables that a crash has left behind.
func Open(m *tablet.Manager, o Options) (*Provider, error) {
	p := &Provider{manager: m, options: o, locks: newMetadataLocks(), variables: map[string][]byte{}}
	ctx := context.Background()
	if err := p.load(ctx); err != nil {
		return nil, err
	}
	if err := p.dropLeftTemporary(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// Manager returns the storage engine below.
func (p *Provider) Manager() *tablet.Manager { return p.manager }

// Version counts publications of definitions; a plan made at one version is
// valid while it lasts.
func (p *Provider) Version() uint64 { return p.current.Load().version }

// definitions returns what the context's session sees.
func (p *Provider) definitions(ctx *sql.Context) *snapshot {
	if s := sessionOf(ctx); s != nil {
		return s.definitions()
	}
	return p.current.Load()
}

// Database finds a database by name, case-insensitively.
func (p *Provider) Database(ctx *sql.Context, name string) (sql.Database, error) {
	if d := p.definitions(ctx).database(name); d != nil {
		return &Database{provider: p, name: d.record.Name}, nil
	}
	if strings.EqualFold(name, sql.InformationSchemaDatabaseName) {
		return information_schema.NewInformationSchemaDatabase(), nil
	}
	return nil, sql.ErrDatabaseNotFound.New(name)
}

// HasDatabase tells whether a database exists.
func (p *Provider) HasDatabase(ctx *sql.Context, name string) bool {
	return p.definitions(ctx).database(name) != nil
}

// AllDatabases lists the databases in order of name.
func (p *Provider) AllDatabases(ctx *sql.Context) []sql.Database {
	s := p.definitions(ctx)
	out := make([]sql.Database, 0, len(s.databases))
	for _, d := range s.databases {
		out = append(out, &Database{provider: p, name: d.record.Name})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name() < out[j].Name() })
	return out
}

// Function finds a function that the assembly adds to the engine's own.
func (p *Provider) Function(ctx *sql.Context, name string) (sql.Function, bool) {
	if p.options.Function == nil {
		return nil, false
	}
	return p.options.Function(ctx, name)
}

// CreateDatabase creates a database with the server's collation.
func (p *Provider) CreateDatabase(ctx *sql.Context, name string) error {
	return p.CreateCollatedDatabase(ctx, name, serverCollation(ctx))
}

// serverCollation is @@collation_server of the session.
func serverCollation(ctx *sql.Context) sql.CollationID {
	if v, err := ctx.GetSessionVariable(ctx, "collation_server"); err == nil {
		if name, ok := v.(string); ok {
			if c, err := sql.ParseCollation("", name, false); err == nil && c != sql.Collation_Unspecified {
				return c
			}
		}
	}
	return DefaultCollation
}

// CreateCollatedDatabase creates a database with a default collation for its tables.
func (p *Provider) CreateCollatedDatabase(ctx *sql.Context, name string, collation sql.CollationID) error {
	s := sessionOf(ctx)
	if s == nil {
		return fmt.Errorf("create database %s: not a ksql session", name)
	}
	if reservedDatabase(name) {
		return sql.ErrDatabaseExists.New(name)
	}
	d, err := s.beginDDL(ctx)
	if err != nil {
		return err
	}
	if d.work.database(name) != nil {
		return sql.ErrDatabaseExists.New(name)
	}
	d.work.databases[strings.ToLower(name)] = newDatabaseDef(&databaseRecord{Name: name, Collation: uint16(collation)})
	return nil
}

// reservedDatabase tells whether a database of that name is made by the engine.
func reservedDatabase(name string) bool {
	switch strings.ToLower(name) {
	case sql.InformationSchemaDatabaseName, "mysql", "performance_schema", "sys":
		return true
	}
	return false
}

// DropDatabase drops a database with everything in it.
func (p *Provider) DropDatabase(ctx *sql.Context, name string) error {
	s := sessionOf(ctx)
	if s == nil {
		return fmt.Errorf("drop database %s: not a ksql session", name)
	}
	d, db, err := s.changeDatabase(ctx, name)
	if err != nil {
		return err
	}
	for _, t := range db.tables {
		for _, fk := range d.work.referencing(t.record.Database, t.record.Name) {
			if !strings.EqualFold(fk.table.record.Database, name) && foreignKeyChecks(ctx) {
				return errForeignKeyParentDrop(t.record.Name, fk.record.Name, fk.table.record.Name)
			}
		}
	}
	for _, t := range db.tables {
		if err := s.exclusiveTable(ctx, t.record.Database, t.record.Name); err != nil {
			return err
		}
		if err := s.dropTablets(t.tablets()); err != nil {
			return err
		}
	}
	delete(d.work.databases, strings.ToLower(name))
	return nil
}

// foreignKeyChecks is @@foreign_key_checks.
func foreignKeyChecks(ctx *sql.Context) bool {
	v, err := ctx.GetSessionVariable(ctx, "foreign_key_checks")
	if err != nil {
		return true
	}
	on, err := sql.ConvertToBool(ctx, v)
	return err != nil || on
}

package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
)

// privilegePersister stores the engine's grant tables, which it hands over as
// a whole after each change.
type privilegePersister struct{ provider *Provider }

var _ mysql_db.MySQLDbPersistence = (*privilegePersister)(nil)

// Persist stores the grant tables in a transaction of its own.
func (p *privilegePersister) Persist(ctx *sql.Context, data []byte) error {
	value := bytes.Clone(data)
	err := saveEntries(background(ctx), p.provider.manager, []storeEntry{{name: kindPrivileges, value: value}})
	if err != nil {
		return err
	}
	p.provider.mu.Lock()
	p.provider.privileges = value
	p.provider.mu.Unlock()
	return nil
}

// LoadPrivileges fills the engine's grant tables from the folder and makes
// later changes of them durable. found is false if none were stored yet, so
// that the caller can create the first account.
func (p *Provider) LoadPrivileges(ctx *sql.Context, db *mysql_db.MySQLDb) (found bool, err error) {
	db.SetPersister(&privilegePersister{provider: p})
	p.mu.Lock()
	data := p.privileges
	p.mu.Unlock()
	if len(data) == 0 {
		return false, nil
	}
	if err := db.LoadData(ctx, data); err != nil {
		return false, fmt.Errorf("load users and grants: %w", err)
	}
	return true, nil
}

var _ sql.PersistableSession = (*Session)(nil)

// PersistGlobal stores a global variable for the next start (SET PERSIST).
func (s *Session) PersistGlobal(ctx *sql.Context, name string, value any) error {
	if err := checkIsolation(name, value); err != nil {
		return err
	}
	variable, _, ok := sql.SystemVariables.GetGlobal(name)
	if !ok {
		return sql.ErrUnknownSystemVariable.New(name)
	}
	converted, _, err := variable.GetType().Convert(ctx, value)
	if err != nil {
		return err
	}
	data, err := json.Marshal(persistedValue(converted))
	if err != nil {
		return fmt.Errorf("persist variable %s: %w", name, err)
	}
	key := strings.ToLower(name)
	if err := saveEntries(background(ctx), s.provider.manager, []storeEntry{{name: entryName(kindVariable, key), value: data}}); err != nil {
		return err
	}
	s.provider.mu.Lock()
	s.provider.variables[key] = data
	s.provider.mu.Unlock()
	return nil
}

// persistedValue is a value as JSON can keep it.
func persistedValue(v any) any {
	if b, ok := v.([]byte); ok {
		return string(b)
	}
	return v
}

// RemovePersistedGlobal forgets a persisted variable.
func (s *Session) RemovePersistedGlobal(name string) error {
	return s.provider.removeVariables(strings.ToLower(name))
}

// RemoveAllPersistedGlobals forgets all persisted variables.
func (s *Session) RemoveAllPersistedGlobals() error {
	var names []string
	s.provider.mu.Lock()
	for name := range s.provider.variables {
		names = append(names, name)
	}
	s.provider.mu.Unlock()
	return s.provider.removeVariables(names...)
}

func (p *Provider) removeVariables(names ...string) error {
	var entries []storeEntry
	for _, name := range names {
		entries = append(entries, storeEntry{name: entryName(kindVariable, name)})
	}
	if err := saveEntries(context.Background(), p.manager, entries); err != nil {
		return err
	}
	p.mu.Lock()
	for _, name := range names {
		delete(p.variables, name)
	}
	p.mu.Unlock()
	return nil
}

// GetPersistedValue returns a persisted variable's value.
func (s *Session) GetPersistedValue(name string) (any, error) {
	s.provider.mu.Lock()
	data := s.provider.variables[strings.ToLower(name)]
	s.provider.mu.Unlock()
	if data == nil {
		return nil, sql.ErrUnknownSystemVariable.New(name)
	}
	return decodeVariable(name, data)
}

// decodeVariable converts a stored value to the variable's type.
func decodeVariable(name string, data []byte) (any, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("persisted variable %s: %w", name, err)
	}
	if n, ok := v.(json.Number); ok {
		if i, err := n.Int64(); err == nil {
			v = i
		} else if u, err := strconv.ParseUint(n.String(), 10, 64); err == nil {
			v = u
		} else if v, err = n.Float64(); err != nil {
			return nil, fmt.Errorf("persisted variable %s: %w", name, err)
		}
	}
	variable, _, ok := sql.SystemVariables.GetGlobal(name)
	if !ok {
		return nil, sql.ErrUnknownSystemVariable.New(name)
	}
	converted, _, err := variable.GetType().Convert(context.Background(), v)
	return converted, err
}

// ApplyPersistedVariables sets the global variables that SET PERSIST has
// stored. Unknown ones (of another version) are reported, not fatal.
func (p *Provider) ApplyPersistedVariables(ctx *sql.Context, unknown func(name string, err error)) {
	p.mu.Lock()
	values := copyMap(p.variables)
	p.mu.Unlock()
	for name, data := range values {
		v, err := decodeVariable(name, data)
		if err == nil {
			err = sql.SystemVariables.AssignValues(map[string]any{name: v})
		}
		if err != nil {
			unknown(name, err)
		}
	}
}

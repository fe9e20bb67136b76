package catalog

import (
	"sort"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
)

// Views, triggers, procedures and events are texts to this package: the engine
// parses and runs them.

// sorted returns a map's values in order of key.
func sorted[V any](m map[string]*V) []*V {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	out := make([]*V, len(keys))
	for i, k := range keys {
		out[i] = m[k]
	}
	return out
}

// CreateView stores a view.
func (d *Database) CreateView(ctx *sql.Context, name, text, statement string) error {
	_, db, err := d.change(ctx)
	if err != nil {
		return err
	}
	key := strings.ToLower(name)
	if db.views[key] != nil || db.tables[key] != nil {
		return sql.ErrExistingView.New(d.name, name)
	}
	db.views[key] = &viewRecord{Name: name, Text: text, Statement: statement, SQLMode: sql.LoadSqlMode(ctx).String()}
	return nil
}

// DropView removes a view.
func (d *Database) DropView(ctx *sql.Context, name string) error {
	key := strings.ToLower(name)
	if d.def(ctx).views[key] == nil {
		return sql.ErrViewDoesNotExist.New(d.name, name)
	}
	_, db, err := d.change(ctx)
	if err != nil {
		return err
	}
	if db.views[key] == nil {
		return sql.ErrViewDoesNotExist.New(d.name, name)
	}
	delete(db.views, key)
	return nil
}

func (d *Database) view(r *viewRecord) sql.ViewDefinition {
	return sql.ViewDefinition{Name: r.Name, TextDefinition: r.Text, CreateViewStatement: r.Statement, SqlMode: r.SQLMode}
}

// GetViewDefinition finds a view. The engine asks for every table name first.
func (d *Database) GetViewDefinition(ctx *sql.Context, name string) (sql.ViewDefinition, bool, error) {
	views := d.def(ctx).views
	if len(views) == 0 {
		return sql.ViewDefinition{}, false, nil
	}
	r := views[strings.ToLower(name)]
	if r == nil {
		return sql.ViewDefinition{}, false, nil
	}
	return d.view(r), true, nil
}

// AllViews lists the views in order of name.
func (d *Database) AllViews(ctx *sql.Context) ([]sql.ViewDefinition, error) {
	var out []sql.ViewDefinition
	for _, r := range sorted(d.def(ctx).views) {
		out = append(out, d.view(r))
	}
	return out, nil
}

// GetTriggers lists the triggers in order of creation.
func (d *Database) GetTriggers(ctx *sql.Context) ([]sql.TriggerDefinition, error) {
	triggers := d.def(ctx).triggers
	if len(triggers) == 0 {
		return nil, nil
	}
	var out []sql.TriggerDefinition
	for _, r := range sorted(triggers) {
		out = append(out, sql.TriggerDefinition{Name: r.Name, CreateStatement: r.Statement, CreatedAt: r.CreatedAt, SqlMode: r.SQLMode})
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].CreatedAt.Before(out[j].CreatedAt) })
	return out, nil
}

// CreateTrigger stores a trigger.
func (d *Database) CreateTrigger(ctx *sql.Context, t sql.TriggerDefinition) error {
	_, db, err := d.change(ctx)
	if err != nil {
		return err
	}
	key := strings.ToLower(t.Name)
	if db.triggers[key] != nil {
		return errTriggerExists()
	}
	db.triggers[key] = &triggerRecord{Name: t.Name, Statement: t.CreateStatement, CreatedAt: t.CreatedAt, SQLMode: t.SqlMode}
	return nil
}

// DropTrigger removes a trigger.
func (d *Database) DropTrigger(ctx *sql.Context, name string) error {
	key := strings.ToLower(name)
	if d.def(ctx).triggers[key] == nil {
		return sql.ErrTriggerDoesNotExist.New(name)
	}
	_, db, err := d.change(ctx)
	if err != nil {
		return err
	}
	delete(db.triggers, key)
	return nil
}

func procedureDetails(r *procedureRecord) sql.StoredProcedureDetails {
	return sql.StoredProcedureDetails{
		Name: r.Name, CreateStatement: r.Statement, CreatedAt: r.CreatedAt, ModifiedAt: r.ModifiedAt, SqlMode: r.SQLMode,
	}
}

// GetStoredProcedure finds a procedure.
func (d *Database) GetStoredProcedure(ctx *sql.Context, name string) (sql.StoredProcedureDetails, bool, error) {
	r := d.def(ctx).procedures[strings.ToLower(name)]
	if r == nil {
		return sql.StoredProcedureDetails{}, false, nil
	}
	return procedureDetails(r), true, nil
}

// GetStoredProcedures lists the procedures in order of name.
func (d *Database) GetStoredProcedures(ctx *sql.Context) ([]sql.StoredProcedureDetails, error) {
	var out []sql.StoredProcedureDetails
	for _, r := range sorted(d.def(ctx).procedures) {
		out = append(out, procedureDetails(r))
	}
	return out, nil
}

// SaveStoredProcedure stores a new procedure.
func (d *Database) SaveStoredProcedure(ctx *sql.Context, p sql.StoredProcedureDetails) error {
	_, db, err := d.change(ctx)
	if err != nil {
		return err
	}
	key := strings.ToLower(p.Name)
	if db.procedures[key] != nil {
		return sql.ErrStoredProcedureAlreadyExists.New(p.Name)
	}
	db.procedures[key] = &procedureRecord{
		Name: p.Name, Statement: p.CreateStatement, CreatedAt: p.CreatedAt, ModifiedAt: p.ModifiedAt, SQLMode: p.SqlMode,
	}
	return nil
}

// DropStoredProcedure removes a procedure.
func (d *Database) DropStoredProcedure(ctx *sql.Context, name string) error {
	key := strings.ToLower(name)
	if d.def(ctx).procedures[key] == nil {
		return sql.ErrStoredProcedureDoesNotExist.New(name)
	}
	_, db, err := d.change(ctx)
	if err != nil {
		return err
	}
	delete(db.procedures, key)
	return nil
}

// GetEvent finds an event.
func (d *Database) GetEvent(ctx *sql.Context, name string) (sql.EventDefinition, bool, error) {
	r := d.def(ctx).events[strings.ToLower(name)]
	if r == nil {
		return sql.EventDefinition{}, false, nil
	}
	return r.Definition, true, nil
}

// GetEvents lists the events in order of name.
func (d *Database) GetEvents(ctx *sql.Context) ([]sql.EventDefinition, any, error) {
	var out []sql.EventDefinition
	for _, r := range sorted(d.def(ctx).events) {
		out = append(out, r.Definition)
	}
	return out, nil, nil
}

// SaveEvent stores a new event and tells whether it is enabled.
func (d *Database) SaveEvent(ctx *sql.Context, e sql.EventDefinition) (bool, error) {
	_, db, err := d.change(ctx)
	if err != nil {
		return false, err
	}
	key := strings.ToLower(e.Name)
	if db.events[key] != nil {
		return false, sql.ErrEventAlreadyExists.New(e.Name)
	}
	db.events[key] = &eventRecord{Definition: e}
	return e.Status == sql.EventStatus_Enable.String(), nil
}

// DropEvent removes an event.
func (d *Database) DropEvent(ctx *sql.Context, name string) error {
	key := strings.ToLower(name)
	if d.def(ctx).events[key] == nil {
		return sql.ErrEventDoesNotExist.New(name)
	}
	_, db, err := d.change(ctx)
	if err != nil {
		return err
	}
	delete(db.events, key)
	return nil
}

// UpdateEvent replaces an event, also under a new name.
func (d *Database) UpdateEvent(ctx *sql.Context, name string, e sql.EventDefinition) (bool, error) {
	_, db, err := d.change(ctx)
	if err != nil {
		return false, err
	}
	oldKey, newKey := strings.ToLower(name), strings.ToLower(e.Name)
	if db.events[oldKey] == nil {
		return false, sql.ErrEventDoesNotExist.New(name)
	}
	if oldKey != newKey && db.events[newKey] != nil {
		return false, sql.ErrEventAlreadyExists.New(e.Name)
	}
	delete(db.events, oldKey)
	db.events[newKey] = &eventRecord{Definition: e}
	return e.Status == sql.EventStatus_Enable.String(), nil
}

// UpdateLastExecuted notes when the scheduler has run an event.
func (d *Database) UpdateLastExecuted(ctx *sql.Context, name string, at time.Time) error {
	_, db, err := d.change(ctx)
	if err != nil {
		return err
	}
	key := strings.ToLower(name)
	old := db.events[key]
	if old == nil {
		return sql.ErrEventDoesNotExist.New(name)
	}
	r := *old
	r.Definition.LastExecuted = at
	db.events[key] = &r
	return nil
}

// NeedsToReloadEvents is false: events change through this database only.
func (d *Database) NeedsToReloadEvents(*sql.Context, any) (bool, error) { return false, nil }

// QuiescableEvents tells the scheduler that it may sleep while there are no events.
func (d *Database) QuiescableEvents() bool { return true }

package catalog

import (
	"time"

	"github.com/dolthub/go-mysql-server/sql"
)

// The records below are the JSON values of the system catalog. Field names are
// persistent: a field may be added, never renamed or reused.

// databaseRecord is one database.
type databaseRecord struct {
	Name      string `json:"name"`
	Collation uint16 `json:"collation"`
}

// expressionRecord is the text of a default, generated or ON UPDATE
// expression, as it can be put behind SELECT.
type expressionRecord struct {
	Text string `json:"text"`
}

// columnRecord is one column of a table.
type columnRecord struct {
	Name          string            `json:"name"`
	Type          string            `json:"type"`
	Collation     uint16            `json:"collation,omitempty"`
	Values        []string          `json:"values,omitempty"` // of ENUM and SET
	SRID          *uint32           `json:"srid,omitempty"`
	Nullable      bool              `json:"nullable,omitempty"`
	AutoIncrement bool              `json:"auto_increment,omitempty"`
	Virtual       bool              `json:"virtual,omitempty"`
	Hidden        bool              `json:"hidden,omitempty"`
	HiddenSystem  bool              `json:"hidden_system,omitempty"`
	Default       *expressionRecord `json:"default,omitempty"`
	Generated     *expressionRecord `json:"generated,omitempty"`
	OnUpdate      *expressionRecord `json:"on_update,omitempty"`
	Comment       string            `json:"comment,omitempty"`
	Extra         string            `json:"extra,omitempty"`
}

// indexRecord is one secondary index: a tablet of its own.
type indexRecord struct {
	Name      string   `json:"name"`
	Tablet    uint64   `json:"tablet"`
	Columns   []int    `json:"columns"` // ordinals in tableRecord.Columns
	Prefix    []uint16 `json:"prefix,omitempty"`
	Unique    bool     `json:"unique,omitempty"`
	Comment   string   `json:"comment,omitempty"`
	Generated bool     `json:"generated,omitempty"` // made for a foreign key
}

// checkRecord is one CHECK constraint.
type checkRecord struct {
	Name       string `json:"name"`
	Expression string `json:"expression"`
	Enforced   bool   `json:"enforced"`
}

// foreignKeyRecord is one FOREIGN KEY, stored with the referring table.
type foreignKeyRecord struct {
	Name           string   `json:"name"`
	Columns        []string `json:"columns"`
	ParentDatabase string   `json:"parent_database"`
	ParentTable    string   `json:"parent_table"`
	ParentColumns  []string `json:"parent_columns"`
	OnUpdate       string   `json:"on_update"`
	OnDelete       string   `json:"on_delete"`
	Resolved       bool     `json:"resolved"`
}

// tableRecord is one table.
type tableRecord struct {
	Database      string             `json:"database"`
	Name          string             `json:"name"`
	Tablet        uint64             `json:"tablet"`
	Columns       []columnRecord     `json:"columns"`
	PrimaryKey    []int              `json:"primary_key,omitempty"` // ordinals in key order; none = hidden row id
	PrimaryPrefix []uint16           `json:"primary_prefix,omitempty"`
	Indexes       []indexRecord      `json:"indexes,omitempty"`
	Checks        []checkRecord      `json:"checks,omitempty"`
	ForeignKeys   []foreignKeyRecord `json:"foreign_keys,omitempty"`
	Collation     uint16             `json:"collation"`
	Comment       string             `json:"comment,omitempty"`
	Options       map[string]string  `json:"options,omitempty"` // ENGINE, ROW_FORMAT, in-band clauses, …
	CreatedMicros int64              `json:"created_micros"`
}

// viewRecord is one view.
type viewRecord struct {
	Name      string `json:"name"`
	Text      string `json:"text"`
	Statement string `json:"statement"`
	SQLMode   string `json:"sql_mode"`
}

// triggerRecord is one trigger.
type triggerRecord struct {
	Name      string    `json:"name"`
	Statement string    `json:"statement"`
	CreatedAt time.Time `json:"created_at"`
	SQLMode   string    `json:"sql_mode"`
}

// procedureRecord is one stored procedure.
type procedureRecord struct {
	Name       string    `json:"name"`
	Statement  string    `json:"statement"`
	CreatedAt  time.Time `json:"created_at"`
	ModifiedAt time.Time `json:"modified_at"`
	SQLMode    string    `json:"sql_mode"`
}

// eventRecord is one event of the scheduler.
type eventRecord struct {
	Definition sql.EventDefinition `json:"definition"`
}

// temporaryRecord names the tablets of one session's temporary table, so that
// an open after a crash can drop them.
type temporaryRecord struct {
	Tablets []uint64 `json:"tablets"`
}

// clone returns a deep copy, for a DDL statement to change.
func (r *tableRecord) clone() *tableRecord {
	c := *r
	c.Columns = append([]columnRecord(nil), r.Columns...)
	c.PrimaryKey = append([]int(nil), r.PrimaryKey...)
	c.PrimaryPrefix = append([]uint16(nil), r.PrimaryPrefix...)
	c.Indexes = append([]indexRecord(nil), r.Indexes...)
	for i := range c.Indexes {
		c.Indexes[i].Columns = append([]int(nil), c.Indexes[i].Columns...)
		c.Indexes[i].Prefix = append([]uint16(nil), c.Indexes[i].Prefix...)
	}
	c.Checks = append([]checkRecord(nil), r.Checks...)
	c.ForeignKeys = append([]foreignKeyRecord(nil), r.ForeignKeys...)
	for i := range c.ForeignKeys {
		fk := &c.ForeignKeys[i]
		fk.Columns = append([]string(nil), fk.Columns...)
		fk.ParentColumns = append([]string(nil), fk.ParentColumns...)
	}
	c.Options = make(map[string]string, len(r.Options))
	for k, v := range r.Options {
		c.Options[k] = v
	}
	return &c
}

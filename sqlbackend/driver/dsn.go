package driver

import (
	"database/sql"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Config is a parsed data source name: a folder and options,
//
//	/path/dir?db=shop&parseTime=true
//
// which may be written with the scheme ksql:// in front.
type Config struct {
	// Dir is the folder.
	Dir string
	// DB is the initial database; "" means none.
	DB string
	// ParseTime turns DATE, DATETIME and TIMESTAMP into time.Time. (parseTime)
	ParseTime bool
	// Loc is the zone of dates in both directions; the default is UTC. (loc)
	Loc *time.Location
	// MultiStatements allows several statements in one call. (multiStatements)
	MultiStatements bool
	// ClientFoundRows makes RowsAffected of an UPDATE count the rows that
	// matched, not those that changed. (clientFoundRows)
	ClientFoundRows bool
	// ReadOnly refuses writes; a folder that is not open yet is opened without
	// touching it. (readonly)
	ReadOnly bool
	// Isolation is the level of transactions that do not name one; the default
	// is the server's, REPEATABLE READ. (isolation)
	Isolation sql.IsolationLevel
}

// ParseDSN reads a data source name. Unknown options are errors.
func ParseDSN(dsn string) (Config, error) {
	c := Config{Loc: time.UTC}
	path, query, _ := strings.Cut(strings.TrimPrefix(dsn, "ksql://"), "?")
	if path == "" {
		return c, fmt.Errorf("ksql: no folder in the data source name %q", dsn)
	}
	c.Dir = path
	values, err := url.ParseQuery(query)
	if err != nil {
		return c, fmt.Errorf("ksql: data source name %q: %w", dsn, err)
	}
	for name, all := range values {
		if len(all) != 1 {
			return c, fmt.Errorf("ksql: option %s is given %d times", name, len(all))
		}
		if err := c.set(name, all[0]); err != nil {
			return c, fmt.Errorf("ksql: option %s=%s: %w", name, all[0], err)
		}
	}
	return c, nil
}

func (c *Config) set(name, value string) (err error) {
	switch name {
	case "db":
		c.DB = value
	case "loc":
		c.Loc, err = time.LoadLocation(value)
	case "isolation":
		c.Isolation, err = parseIsolation(value)
	case "parseTime":
		c.ParseTime, err = strconv.ParseBool(value)
	case "multiStatements":
		c.MultiStatements, err = strconv.ParseBool(value)
	case "clientFoundRows":
		c.ClientFoundRows, err = strconv.ParseBool(value)
	case "readonly":
		c.ReadOnly, err = strconv.ParseBool(value)
	default:
		return fmt.Errorf("unknown option; the options are db, parseTime, loc, multiStatements, clientFoundRows, readonly and isolation")
	}
	return err
}

// isolationNames are the levels in SQL.
var isolationNames = map[sql.IsolationLevel]string{
	sql.LevelReadUncommitted: "READ UNCOMMITTED",
	sql.LevelReadCommitted:   "READ COMMITTED",
	sql.LevelRepeatableRead:  "REPEATABLE READ",
	sql.LevelSnapshot:        "REPEATABLE READ",
	sql.LevelSerializable:    "SERIALIZABLE",
}

func parseIsolation(s string) (sql.IsolationLevel, error) {
	want := strings.ToUpper(strings.NewReplacer("-", " ", "_", " ").Replace(s))
	for _, level := range []sql.IsolationLevel{sql.LevelReadUncommitted, sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable} {
		if isolationNames[level] == want {
			return level, nil
		}
	}
	return 0, fmt.Errorf("unknown isolation level")
}

// FormatDSN is the inverse of ParseDSN.
func (c Config) FormatDSN() string {
	v := url.Values{}
	if c.DB != "" {
		v.Set("db", c.DB)
	}
	if c.Loc != nil && c.Loc != time.UTC {
		v.Set("loc", c.Loc.String())
	}
	if name := isolationNames[c.Isolation]; name != "" {
		v.Set("isolation", strings.ToLower(strings.ReplaceAll(name, " ", "-")))
	}
	for name, on := range map[string]bool{
		"parseTime": c.ParseTime, "multiStatements": c.MultiStatements,
		"clientFoundRows": c.ClientFoundRows, "readonly": c.ReadOnly,
	} {
		if on {
			v.Set(name, "true")
		}
	}
	if len(v) == 0 {
		return c.Dir
	}
	return c.Dir + "?" + v.Encode()
}

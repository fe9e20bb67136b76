package driver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"io"
	"sync"

	"ksql/sqlbackend/wire"
)

func init() { sql.Register("ksql", &Driver{}) }

// Driver implements driver.Driver and driver.DriverContext.
type Driver struct{}

var _ driver.DriverContext = (*Driver)(nil)

// Open opens a connection by itself, with its own hold on the folder.
// database/sql uses OpenConnector instead.
func (d *Driver) Open(dsn string) (driver.Conn, error) {
	c, err := d.OpenConnector(dsn)
	if err != nil {
		return nil, err
	}
	cn, err := c.Connect(context.Background())
	if err != nil {
		return nil, both(err, c.(io.Closer).Close())
	}
	cn.(*conn).closer = c.(io.Closer)
	return cn, nil
}

// OpenConnector parses the data source name; the folder is opened by the first
// connection.
func (d *Driver) OpenConnector(dsn string) (driver.Connector, error) {
	cfg, err := ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	return NewConnector(cfg), nil
}

// Connector opens connections to one folder, for sql.OpenDB. It holds the
// folder from its first connection to Close, which sql.DB.Close calls.
type Connector struct {
	cfg Config

	mu     sync.Mutex
	folder *folder
	closed bool
}

var (
	_ driver.Connector = (*Connector)(nil)
	_ io.Closer        = (*Connector)(nil)
)

// NewConnector returns a connector with this configuration.
func NewConnector(cfg Config) *Connector { return &Connector{cfg: cfg} }

// Driver implements driver.Connector.
func (c *Connector) Driver() driver.Driver { return &Driver{} }

// Connect implements driver.Connector. It opens the folder if this is the
// first connection.
func (c *Connector) Connect(ctx context.Context) (driver.Conn, error) {
	f, err := c.hold()
	if err != nil {
		return nil, err
	}
	info := wire.ConnInfo{Database: c.cfg.DB, Collation: collationUTF8MB4, Capabilities: c.capabilities(), Embedded: true}
	sess, err := f.backend.Connect(ctx, info)
	if err != nil {
		return nil, both(clientError(ctx, err), f.release())
	}
	cn := &conn{cfg: c.cfg, sess: sess, folder: f}
	if err := cn.configure(ctx); err != nil {
		return nil, both(err, cn.Close())
	}
	return cn, nil
}

// collationUTF8MB4 is utf8mb4_0900_ai_ci.
const collationUTF8MB4 = 255

// clientFoundRows is CLIENT_FOUND_ROWS of the protocol.
const clientFoundRows = 1 << 1

func (c *Connector) capabilities() uint32 {
	if c.cfg.ClientFoundRows {
		return clientFoundRows
	}
	return 0
}

// hold returns the folder with a reference for a connection: one that is in use
// when the handle is closed keeps the folder open until it is given back.
func (c *Connector) hold() (*folder, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, sql.ErrConnDone
	}
	if c.folder == nil {
		f, err := acquire(c.cfg.Dir, c.cfg.ReadOnly)
		if err != nil {
			return nil, err
		}
		c.folder = f
	}
	c.folder.retain()
	return c.folder, nil
}

// Close lets go of the folder. It is safe to call more than once.
func (c *Connector) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.folder == nil {
		return nil
	}
	f := c.folder
	c.folder = nil
	return f.release()
}

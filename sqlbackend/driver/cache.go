package driver

import (
	"context"

	"ksql/sqlbackend/wire"
)

// parseCacheSize is how many statements with arguments a connection keeps
// parsed.
const parseCacheSize = 64

// parseCache keeps the parsed form of statements that are run with arguments
// but without being prepared. Which one goes when it is full is left to chance.
type parseCache struct{ m map[string]*wire.Prepared }

// parse returns the parsed form of q. What settings like sql_mode change is
// not kept.
func (c *conn) parse(ctx context.Context, q string) (*wire.Prepared, error) {
	if p, ok := c.parsed.m[q]; ok && !c.sess.Dirty() {
		return p, nil
	}
	p, err := c.sess.Parse(ctx, q)
	if err != nil || c.sess.Dirty() {
		return p, err
	}
	if c.parsed.m == nil {
		c.parsed.m = make(map[string]*wire.Prepared, parseCacheSize)
	}
	for old := range c.parsed.m {
		if len(c.parsed.m) < parseCacheSize {
			break
		}
		delete(c.parsed.m, old)
	}
	c.parsed.m[q] = p
	return p, nil
}

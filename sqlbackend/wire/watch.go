package wire

import (
	"time"
)

// watchInterval is how often connections with a running statement are looked
// at.
const watchInterval = 500 * time.Millisecond

// watch interrupts statements whose clients have gone. The protocol gives no
// sign of that while a statement runs, and a long one would hold its locks. It
// runs until the server stops.
func (s *Server) watch() {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	suspects := map[*conn]uint64{}
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
		}
		next := map[*conn]uint64{}
		for _, c := range s.openConns() {
			n, busy := c.command()
			if !busy {
				continue
			}
			if before, seen := suspects[c]; seen && before == n && peerClosed(c.tc.Conn) {
				c.sess.Kill(ErrClientGone)
			}
			next[c] = n
		}
		suspects = next
	}
}

func (s *Server) openConns() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		out = append(out, c)
	}
	return out
}

// command numbers the connection's commands; busy says that the last one runs.
func (c *conn) command() (n uint64, busy bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.commandNo, c.busy && c.sess != nil
}

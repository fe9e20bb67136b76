package driver

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"

	"ksql/sqlbackend/wire"
)

// Backend is what the driver needs of an open folder.
type Backend interface {
	// Connect opens a session.
	Connect(ctx context.Context, info wire.ConnInfo) (*wire.Session, error)
	// Close ends all sessions and releases the folder.
	Close() error
}

// folder is an open folder, shared by the handles of this process.
type folder struct {
	path     string
	readOnly bool
	refs     int
	backend  Backend
	ready    chan struct{} // closed when opening has ended, either way
	err      error
}

var (
	foldersMu sync.Mutex
	folders   = map[string]*folder{}
)

// acquire opens the folder in dir or shares the one that is open already. Each
// successful acquire needs a release.
func acquire(dir string, readOnly bool) (*folder, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("ksql: %w", err)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // else it does not exist yet
	}
	foldersMu.Lock()
	f := folders[path]
	if f == nil {
		f = &folder{path: path, readOnly: readOnly, ready: make(chan struct{})}
		folders[path] = f
		f.refs++
		foldersMu.Unlock()
		f.open()
	} else {
		f.refs++
		foldersMu.Unlock()
		<-f.ready
	}
	if f.err != nil {
		f.drop()
		return nil, f.err
	}
	if f.readOnly && !readOnly {
		err := fmt.Errorf("ksql: %s is open in this process with readonly=true", path)
		if cerr := f.release(); cerr != nil {
			return nil, cerr
		}
		return nil, err
	}
	return f, nil
}

func (f *folder) open() {
	defer close(f.ready)
	f.backend, f.err = openBackend(f.path, f.readOnly)
}

// retain adds a reference to a folder of which the caller has one.
func (f *folder) retain() {
	foldersMu.Lock()
	defer foldersMu.Unlock()
	f.refs++
}

// drop gives back the reference to a folder that could not be opened, so that
// the next acquire tries again.
func (f *folder) drop() {
	foldersMu.Lock()
	defer foldersMu.Unlock()
	f.refs--
	if folders[f.path] == f {
		delete(folders, f.path)
	}
}

// release gives back a reference; the last one closes the folder. The lock is
// held meanwhile, so that a handle opened now waits for the folder to be free.
func (f *folder) release() error {
	foldersMu.Lock()
	defer foldersMu.Unlock()
	f.refs--
	if f.refs > 0 {
		return nil
	}
	delete(folders, f.path)
	return f.backend.Close()
}

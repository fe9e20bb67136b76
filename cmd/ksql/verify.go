package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"ksql/config"
	"ksql/sqlbackend"
)

var verifyCommand = command{
	name:    "verify",
	summary: "check every checksum, index against table, superblock against files; changes nothing",
	run:     verify,
}

// verify opens the folder read-only and walks it. Damage is exit code 1.
func verify(env *environment, cfg *config.Config, fs *pflag.FlagSet) error {
	if fs.NArg() > 0 {
		return failure(exitUsage, "unexpected argument %q; the folder is named with --data", fs.Arg(0))
	}
	if err := holdsDatabase(cfg.Data); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b, err := openBackend(cfg, logTo(env, cfg), sqlbackend.Options{ReadOnly: true})
	if err != nil {
		if errors.Is(err, sqlbackend.ErrFolderInUse) {
			return fmt.Errorf("%w\nStop its owner first: verify reads the files themselves", err)
		}
		return err
	}
	faults := 0
	err = b.Check(ctx, func(fault error) {
		faults++
		fmt.Fprintf(env.stdout, "damage: %v\n", fault)
	})
	if err = errors.Join(err, b.Close()); err != nil {
		return err
	}
	if faults > 0 {
		return failure(exitFailed, "%d faults found in %s", faults, cfg.Data)
	}
	_, err = fmt.Fprintf(env.stdout, "%s: no damage found\n", cfg.Data)
	return err
}

// holdsDatabase refuses a folder that is not there or holds something else.
func holdsDatabase(dir string) error {
	names, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return failure(exitFolder, "the folder %s does not exist", dir)
	case err != nil:
		return failure(exitFolder, "%w", err)
	}
	for _, n := range names {
		if n.Name() == "SUPERBLOCK" || n.Name() == "wal" {
			return nil
		}
	}
	return failure(exitFolder, "%s holds no ksql database", dir)
}

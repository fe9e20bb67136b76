#!/usr/bin/env bash
# Checks the whole tree once: format, vet, race detector over the concurrent packages,
# then all tests. Ends with Go's summary; non-zero if anything failed. Bounded: 15 minutes.
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
need_go
failed=0

# The tests run the mariadb client against ksql.
command -v mariadb >/dev/null || install_packages mariadb-client || failed=1

unformatted=$(git ls-files --cached --others --exclude-standard '*.go' | xargs -r gofmt -l)
if [ -n "$unformatted" ]; then
  printf 'not formatted with gofmt:\n%s\n' "$unformatted"
  failed=1
fi
go vet ./... || failed=1

# The race detector needs cgo. -short keeps the long random forms out of this pass.
if ! command -v gcc >/dev/null; then
  install_packages gcc libc6-dev || echo "no C compiler: the race detector is left out" >&2
fi
if command -v gcc >/dev/null; then
  CGO_ENABLED=1 go test -race -short -timeout 6m ./tablet ./tablet/wal ./sqlbackend ./sqlbackend/wire ./sqlbackend/driver || failed=1
fi

go test -timeout 9m ./... || failed=1
exit $failed

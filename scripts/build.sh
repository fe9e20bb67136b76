#!/usr/bin/env bash
# Builds bin/ksql: one static, stripped program.
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
need_go
mkdir -p bin
go build -trimpath -ldflags "-s -w -X main.version=$(version)" -o bin/ksql ./cmd/ksql
echo "bin/ksql $(($(stat -c %s bin/ksql) / 1000000)) MB, $(bin/ksql version | head -n 1)"

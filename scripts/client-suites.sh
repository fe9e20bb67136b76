#!/usr/bin/env bash
# Runs the test suite of github.com/go-sql-driver/mysql, the version that go.mod names,
# against a fresh bin/ksql serve. Prints every test with its outcome and the share that
# passes; exits 1 below 85 %.
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
need_go
bash scripts/build.sh >&2
go mod download github.com/go-sql-driver/mysql
source=$(go list -m -f '{{.Dir}}' github.com/go-sql-driver/mysql)
work=$(mktemp -d)
server=
cleanup() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  wait 2>/dev/null || true
  chmod -R u+w "$work"
  rm -rf "$work"
}
trap cleanup EXIT
cp -r "$source" "$work/suite"
chmod -R u+w "$work/suite"

bin/ksql serve --data "$work/data" --port 0 >"$work/ready" 2>"$work/log" &
server=$!
for _ in $(seq 100); do
  grep -q 'ready for connections' "$work/ready" && break
  kill -0 "$server" 2>/dev/null || { cat "$work/log" >&2; exit 1; }
  sleep 0.1
done
address=$(sed -n 's/.*ready for connections on \([0-9.:]*\).*/\1/p' "$work/ready")
bin/ksql run --data "$work/data" - <<'SQL'
CREATE DATABASE gotest;
CREATE USER 'gotest'@'%' IDENTIFIED BY 'secret';
GRANT ALL ON *.* TO 'gotest'@'%' WITH GRANT OPTION;
SET GLOBAL local_infile = 1;
SQL

# The suite is a module of its own; the engine's tag means nothing there.
status=0
(
  cd "$work/suite"
  export GOFLAGS=-mod=mod MYSQL_TEST_USER=gotest MYSQL_TEST_PASS=secret MYSQL_TEST_PROT=tcp \
    MYSQL_TEST_ADDR="$address" MYSQL_TEST_DBNAME=gotest MYSQL_TEST_CONCURRENT=1
  go test -json -count=1 -timeout 10m ./... >"$work/result.json" 2>"$work/result.err"
) || status=$?
cat "$work/result.err" >&2
# Subtests count with their parents: one line per top-level test.
sed -n 's/.*"Action":"\(pass\|fail\|skip\)".*"Test":"\([^"\/]*\)".*/\1 \2/p' "$work/result.json" | sort -u >"$work/outcome"
[ -s "$work/outcome" ] || { echo "the suite did not run" >&2; exit 1; }
while read -r outcome test; do
  echo "$outcome $test"
  if [ "$outcome" = fail ]; then
    grep -F "\"Test\":\"$test" "$work/result.json" | sed -n 's/.*"Output":"\(.*\)"}.*/      \1/p' | grep -v '=== RUN\|--- FAIL\|=== PAUSE\|=== CONT' | head -n 5 || true
  fi
done <"$work/outcome"
passed=$(grep -c '^pass' "$work/outcome" || true)
broken=$(grep -c '^fail' "$work/outcome" || true)
skipped=$(grep -c '^skip' "$work/outcome" || true)
share=$((100 * passed / (passed + broken)))
echo "$passed passed, $broken failed, $skipped skipped: $share % of those that ran"
[ $share -ge 85 ]

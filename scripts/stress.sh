#!/usr/bin/env bash
# stress.sh DURATION (30s, 10m, 2h): the long forms of the random, crash and race tests
# and the fuzz targets, in turn, until the time is over or one fails.
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
need_go
duration=${1:?usage: scripts/stress.sh DURATION, for example 10m}
case $duration in
  *h) seconds=$((${duration%h} * 3600)) ;;
  *m) seconds=$((${duration%m} * 60)) ;;
  *s) seconds=${duration%s} ;;
  *) seconds=$duration ;;
esac
end=$((SECONDS + seconds))
export KSQL_STRESS=$((seconds / 4 + 1))s # how long a test that is random without end goes on
pattern='Stress|Model|Crash|Kill|Concurren|Race|Fault|Random|RepeatableRead'
round=0
while [ $SECONDS -lt $end ]; do
  round=$((round + 1))
  echo "== round $round, $((end - SECONDS)) s left"
  go test -count=1 -timeout "$((seconds + 900))s" -run "$pattern" ./...
  if command -v gcc >/dev/null && [ $SECONDS -lt $end ]; then
    CGO_ENABLED=1 go test -race -short -count=1 -timeout "$((seconds + 900))s" -run "$pattern" ./tablet/... ./sqlbackend/...
  fi
  for file in $(git grep -l '^func Fuzz' -- '*_test.go'); do
    for name in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' "$file"); do
      [ $SECONDS -lt $end ] || break 2
      go test -run '^$' -fuzz "^$name\$" -fuzztime 10s "./$(dirname "$file")"
    done
  done
done
echo "stress: $round rounds in ${SECONDS} s without a failure"

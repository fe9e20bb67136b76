#!/usr/bin/env bash
# bench.sh NAME: one benchmark as a table "name | ours | baseline | ratio | target | ok".
# Exits 1 if a target is missed. Names: start, commit.
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
need_go
name=${1:?usage: scripts/bench.sh start|commit}
case $name in
  start | commit) ;;
  *) echo "unknown benchmark $name; there are: start, commit" >&2; exit 2 ;;
esac
bash scripts/build.sh >&2
exec go run ./scripts/bench "$name"

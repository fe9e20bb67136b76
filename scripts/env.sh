# Sourced by the other scripts: the top of the tree, and the build settings of ksql.
# ksql is pure Go; the tag chooses the engine's pure Go regular expressions.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$top"
export CGO_ENABLED=0
export GOFLAGS="-buildvcs=false -tags=gms_pure_go"
export PATH="$PATH:/usr/local/go/bin"

# need_go stops with one line if Go is missing or too old.
need_go() {
  if ! command -v go >/dev/null; then
    echo "Go is not installed: get Go $(sed -n 's/^go //p' go.mod) or newer from your system or go.dev/dl" >&2
    exit 1
  fi
  if ! go list -m >/dev/null; then
    echo "this Go ($(go env GOVERSION)) can't read go.mod, which asks for go $(sed -n 's/^go //p' go.mod)" >&2
    exit 1
  fi
}

# install_packages NAME… installs Debian packages; it fails if that is not possible here.
install_packages() {
  command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] || { echo "can't install $*: neither root nor apt-get" >&2; return 1; }
  echo "installing $*" >&2
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"; } >/tmp/ksql-apt.log 2>&1 ||
    { cat /tmp/ksql-apt.log >&2; return 1; }
}

version() { git describe --tags --always --dirty 2>/dev/null || echo unversioned; }

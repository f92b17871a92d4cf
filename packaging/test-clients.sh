#!/usr/bin/env bash
# Tests a built server with clients that others wrote: the MCP clients of Python
# and TypeScript, Claude Code with a scripted model, schemathesis and a validator
# of OpenAPI. They are installed once, into a cache outside of the repository.
#
# usage: packaging/test-clients.sh [BIN]
#
#   BIN                      folder with clearbox and its harnesses (default: bin)
#   CLEARBOX_CLIENTS_CACHE   where the clients are kept
#                            (default: clearbox-clients in the user's cache folder)
set -euo pipefail
cd "$(dirname "$0")/.."
clients=$PWD/internal/clients
bin=$(realpath "${1:-bin}")
cache=${CLEARBOX_CLIENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/clearbox-clients}

missing() {
	printf 'test-clients: %s\n' "$@" >&2
	exit 1
}

[ -x "$bin/clearbox" ] || missing "there is no clearbox in $bin: run make build first"
[ -x "$bin/harness-mock" ] || missing "there is no harness-mock in $bin: run make build first"
command -v python3 >/dev/null || missing "python3 is missing; on Debian: apt-get install python3 python3-venv"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || missing "python3 is older than 3.10, which the clients need"
python3 -c 'import venv, ensurepip' 2>/dev/null || missing "python3 has no venv; on Debian: apt-get install python3-venv"
for program in node npm; do
	command -v "$program" >/dev/null || missing "$program is missing (Node 20 or newer); on Debian: apt-get install nodejs npm"
done

# upToDate reports whether a part of the cache was installed from a list as it is now.
upToDate() { cmp -s "$clients/$1" "$cache/$2/installed-from"; }

mkdir -p "$cache"
if ! upToDate requirements.txt venv; then
	echo "test-clients: installing the clients of Python"
	rm -rf "$cache/venv"
	python3 -m venv "$cache/venv"
	"$cache/venv/bin/pip" install --quiet --disable-pip-version-check -r "$clients/requirements.txt" ||
		missing "pip could not install $clients/requirements.txt"
	cp "$clients/requirements.txt" "$cache/venv/installed-from"
fi
if ! upToDate package.json npm; then
	echo "test-clients: installing the clients of Node"
	rm -rf "$cache/npm"
	mkdir -p "$cache/npm"
	cp "$clients/package.json" "$cache/npm/"
	(cd "$cache/npm" && npm install --silent --no-audit --no-fund --no-package-lock) ||
		missing "npm could not install $clients/package.json"
	cp "$clients/package.json" "$cache/npm/installed-from"
fi

# claude prints the path of the installed program: npm may have been told not to run
# the script that puts it in its place.
claude() {
	for program in "$cache"/npm/node_modules/.bin/claude "$cache"/npm/node_modules/@anthropic-ai/*/claude; do
		if "$program" --version >/dev/null 2>&1; then
			echo "$program"
			return
		fi
	done
	missing "the claude program was not installed into $cache/npm"
}

failed=0
PYTHONDONTWRITEBYTECODE=1 "$cache/venv/bin/python" "$clients/run.py" "$bin" "$cache" || failed=1

# All that the harness does with the real program takes minutes more.
if [ "${CLEARBOX_CLAUDE:-}" = all ]; then
	echo "harness-claude with the real program"
	program=$(claude)
	CLEARBOX_TEST_CLAUDE=$program go test -count=1 -timeout 15m -tags sqlite_fts5,sqlite_omit_load_extension ./cmd/harness-claude || failed=1
fi
exit $failed

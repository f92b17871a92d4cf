#!/bin/sh
# Plays this example from nothing: a scripted model, a Clearbox of its own with the
# agent "openai", and a goal. The plan is made while you watch; approve it in the
# browser (--yes approves it for you). What the agents do to the files is real.
set -eu
cd "$(dirname "$0")/../.."

port=${CLEARBOX_PORT:-8765}
tmp=$(mktemp -d)
pids=
cleanup() {
	for pid in $pids; do kill "$pid" 2>/dev/null || true; done
	wait 2>/dev/null || true
	rm -rf "$tmp"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# waits until a file has a line that matches, while a process lives
await() {
	until grep -q "$2" "$1" 2>/dev/null; do
		kill -0 "$3" 2>/dev/null || { cat "$1" >&2; exit 1; }
		sleep 0.1
	done
}

go build -o "$tmp/" ./examples/goal ./examples/goal/goal-model
"$tmp/goal-model" --pace "${PACE:-600}" >"$tmp/model.url" &
model=$!
pids="$pids $model"
await "$tmp/model.url" http "$model"

bin/clearbox serve --port "$port" --db "$tmp/data/clearbox.sqlite" \
	--openai-base-url "$(head -1 "$tmp/model.url")" --openai-model scripted-model >"$tmp/server.log" 2>&1 &
server=$!
pids="$pids $server"
await "$tmp/server.log" 'UI ' "$server"

"$tmp/goal" --server "http://127.0.0.1:$port" --agent openai --dir "$tmp/service" "$@"

case " $* " in
*" --yes "*) ;;
*)
	echo
	echo "The plan stays open in the browser until you press Ctrl-C."
	wait "$server"
	;;
esac

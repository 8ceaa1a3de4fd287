#!/usr/bin/env bash
# The stock OpenTelemetry Python exporter against `traces serve`, which is killed with SIGKILL again and again.
#
# usage: run.sh [TRACES-BINARY]
#
# Settings by environment: KILL_EVERY (seconds between kills, 3; 0 never kills), PACE (seconds that each of two threads
# waits before a batch, 0.15), PYTHON (an interpreter that has requirements.txt; without it a virtual environment is
# made and filled), PORT (0 picks a free one). Ends with status 0 if the summaries are exactly the expected ones.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
data=$root/tests/data/otlp
traces=${1:-${CARGO_TARGET_DIR:-$root/target}/release/traces}
kill_every=${KILL_EVERY:-3}
pace=${PACE:-0.15}

[[ -x $traces ]] || { echo "no binary at $traces: build it with cargo build --release -p foldwright-traces" >&2; exit 2; }
work=$(mktemp -d)
server=
exporter=
cleanup() {
    for pid in $exporter $server; do kill -9 "$pid" 2>/dev/null || true; done
    rm -rf "$work"
}
trap cleanup EXIT

python=${PYTHON:-}
if [[ -z $python ]]; then
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
    python=$work/venv/bin/python
fi

# Starts the server on the port that it had before, and waits until it says where it listens.
start() {
    : > "$work/said"
    "$traces" serve --store "$work/traces.db" --listen "127.0.0.1:$1" --lease 1s > "$work/said" 2>> "$work/log" &
    server=$!
    until grep -q '^listening on ' "$work/said"; do
        kill -0 "$server" 2>/dev/null || { echo "the server did not start:" >&2; cat "$work/log" >&2; exit 1; }
        sleep 0.05
    done
    address=$(sed -n 's|^listening on http://||p' "$work/said")
}

start "${PORT:-0}"
port=${address##*:}
"$python" "$here/export_corpus.py" --endpoint "http://$address/v1/traces" --data "$data" --pace "$pace" &
exporter=$!

kills=0
if [[ $kill_every != 0 ]]; then
    while sleep "$kill_every" && kill -0 "$exporter" 2>/dev/null; do
        kill -9 "$server"
        # The port is free only once the process is gone.
        wait "$server" 2>/dev/null || true
        kills=$((kills + 1))
        start "$port"
    done
fi
wait "$exporter"
exporter=
echo "the server was killed $kills times"

# What was accepted is durable; wait until it is folded too.
for _ in $(seq 600); do
    open=$("$python" - "http://$address/metrics" <<'PYTHON'
import sys
import urllib.request

text = urllib.request.urlopen(sys.argv[1]).read().decode()
print(next(line.split()[1] for line in text.splitlines() if line.startswith("traces_backlog_open ")))
PYTHON
    )
    [[ $open != 0 ]] || break
    sleep 0.1
done
[[ $open == 0 ]] || { echo "$open jobs are still open after a minute" >&2; exit 1; }

kill -TERM "$server"
wait "$server"
server=
"$traces" show --json --store "$work/traces.db" > "$work/summaries.jsonl"
gzip -dc "$data/trace_summaries.jsonl.gz" > "$work/expected.jsonl"
if cmp "$work/summaries.jsonl" "$work/expected.jsonl"; then
    echo "all $(wc -l < "$work/expected.jsonl") summaries are exact, byte for byte"
else
    diff "$work/summaries.jsonl" "$work/expected.jsonl" | head -n 10 >&2
    exit 1
fi

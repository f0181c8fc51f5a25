#!/bin/sh
# Applies the change under judgment to a copy of the program, runs its checks, and prints the share that hold.
set -eu
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp "$(dirname "$0")/refunds.py" "$(dirname "$0")/check_refunds.py" "$copy"
cd "$copy"
patch --quiet --strip 1 <"$EVAL_OUTPUT_FILE"
said=$(python3 check_refunds.py || true)
last=$(printf '%s\n' "$said" | tail -n 1)
passed=${last%% passed*}
failed=$(printf '%s\n' "$last" | sed 's/.*, \([0-9]*\) failed/\1/')
broken=$(printf '%s\n' "$said" | sed -n 's/^FAILED //p' | tr '\n' ' ')
printf '{"score": %s, "reasoning": "%s %s"}\n' "$((100 * passed / (passed + failed)))" "$last" "$broken"

#!/usr/bin/env bash
# Runs one fwctl command. Its exit code is the step's; its outputs are written by fwctl itself.
set -euo pipefail

read -ra command <<< "$FWCTL_ACTION_COMMAND"
arguments=()
while IFS= read -r line; do
  [[ -n "$line" ]] && arguments+=("$line")
done <<< "${FWCTL_ACTION_ARGS:-}"
[[ -n "${FWCTL_ACTION_EXPECT:-}" ]] && arguments+=(--expect "$FWCTL_ACTION_EXPECT")

# An empty key would hide the one that firectl keeps on a self-hosted runner.
[[ -n "${FIREWORKS_API_KEY:-}" ]] || unset FIREWORKS_API_KEY

json="$RUNNER_TEMP/fwctl.json"
rm -f "$json" "$RUNNER_TEMP/fwctl-comment.md"
echo "json=$json" >> "$GITHUB_OUTPUT"

FWCTL_FORMAT=github FWCTL_COMMENT="$RUNNER_TEMP/fwctl-comment.md" \
  fwctl "${command[@]}" "${arguments[@]}" --json-out "$json"

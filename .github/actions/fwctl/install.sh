#!/usr/bin/env bash
# Installs fwctl, and firectl as the vendor does it. Later steps find both on the PATH.
set -euo pipefail

python3 -m pip install --quiet --disable-pip-version-check "$FWCTL_PACKAGE"

case "$FWCTL_FIRECTL_SOURCE" in
  install)
    if ! command -v firectl > /dev/null; then
      curl --fail --silent --show-error --location --retry 3 https://cli.fireworks.ai/install.sh | bash
    fi
    ;;
  *) echo "FWCTL_FIRECTL=$FWCTL_FIRECTL_SOURCE" >> "$GITHUB_ENV" ;;
esac

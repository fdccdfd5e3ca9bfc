#!/bin/sh
# Regenerates tools/action-requirements.txt, which lists what the action installs, each file by its
# hash, for all supported Pythons. Run it if pyproject.toml has other dependencies, or for new versions.
#
#   tools/action-requirements.sh            needs `uv`
#   tools/action-requirements.sh --upgrade  the newest versions instead of those in the file
set -eu

cd "$(dirname -- "$0")/.."
{
    echo '# Made by tools/action-requirements.sh: what action.yml installs.'
} >tools/action-requirements.new
trap 'rm -f tools/action-requirements.new' EXIT
[ "${1:-}" = --upgrade ] && : >tools/action-requirements.txt
uv pip compile --quiet --no-config --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
    --no-emit-index-url --output-file tools/action-requirements.txt pyproject.toml
cat tools/action-requirements.txt >>tools/action-requirements.new
mv tools/action-requirements.new tools/action-requirements.txt

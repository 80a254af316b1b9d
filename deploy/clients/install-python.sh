#!/bin/sh
# Installs the generator that is written in Python, and what clients in Python need; without Python 3 and its venv,
# `make verify PART=clients` does without them.
cd "$(dirname "$0")/node_modules" || exit 1
# The copy is there after an installation that succeeded.
cmp -s ../requirements.txt .python/requirements.txt && exit 0
rm -rf .python
if python3 -m venv .python && .python/bin/pip install --quiet --disable-pip-version-check --requirement ../requirements.txt; then
  exec cp ../requirements.txt .python/
fi
rm -rf .python
echo "skipped openapi-python-client and clients in Python: they need Python 3.11 or newer with venv"

#!/bin/sh
# Installs the generator that is written in Python; without Python 3 and its venv, `make verify PART=clients` does without it.
cd "$(dirname "$0")/node_modules" || exit 1
[ -x .python/bin/openapi-python-client ] && exit 0
if python3 -m venv .python && .python/bin/pip install --quiet --disable-pip-version-check --requirement ../requirements.txt; then
  exit 0
fi
rm -rf .python
echo "skipped 1 of 4 generators: openapi-python-client needs Python 3.11 or newer with venv"

#!/bin/sh
# Fetches Node and the packages. Does nothing, and needs no network, when both are there.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p .tools
wanted_node=24
tool_node=.tools/bin/node

fail() {
  echo "$1" >&2
  exit 1
}

is_new_enough() {
  "$1" -e "process.exit(Number(process.versions.node.split('.')[0]) >= $wanted_node ? 0 : 1)" 2>/dev/null
}

# Another version than the pinned one, or a tools folder from another machine, is replaced.
node_lock=deploy/local/node/package-lock.json
{ cmp -s "$node_lock" .tools/package-lock.json && is_new_enough "$tool_node"; } || rm -f "$tool_node"
own_node=$(command -v node) || fail "Node.js with npm was not found: install Node $wanted_node, or any older one with npm"
command -v npm >/dev/null || fail "npm was not found: install it next to $own_node"

if ! is_new_enough "$own_node"; then
  package=node-$("$own_node" -p 'process.platform + "-" + process.arch')
  echo "fetching Node $wanted_node ($package)"
  cp deploy/local/node/package.json "$node_lock" .tools/
  npm ci --prefix .tools --ignore-scripts --no-audit --no-fund --loglevel=error && [ -x ".tools/node_modules/$package/bin/node" ] ||
    fail "Node $wanted_node could not be fetched as $package: install Node $wanted_node by hand, then try again"
  mkdir -p .tools/bin
  ln -sf "../node_modules/$package/bin/node" "$tool_node"
  is_new_enough "$tool_node" || fail "$tool_node does not run on this machine"
  hash -r
fi

# The copy is kept among the packages, so that it disappears with them and a failed installation leaves none.
installed=node_modules/.installed-package-lock.json
if ! cmp -s package-lock.json "$installed"; then
  rm -f "$installed"
  echo "installing the packages"
  npm ci --loglevel=error || fail "the packages could not be installed as package-lock.json lists them"
  cp package-lock.json "$installed"
fi

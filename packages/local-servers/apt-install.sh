#!/bin/sh
# Installs Debian packages as root, non-interactively and without starting their services.
set -eu
export DEBIAN_FRONTEND=noninteractive

policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 1' INT TERM
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
fi

# A failed update is not fatal: the package lists already here may be enough.
apt-get update -q || true
apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=120 "$@"

#!/bin/sh
# Installs Debian packages as root, without questions and without starting the services that they bring.
set -eu
export DEBIAN_FRONTEND=noninteractive

policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 1' INT TERM
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
fi

# A failing update is not the end: the lists at hand may do.
apt-get update -q || true
apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=120 "$@"

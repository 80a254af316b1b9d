#!/bin/sh
# Installs a trial into the cluster of kubectl's current context, whose nodes have the image toolgate:0.1.0: PostgreSQL,
# NATS and Redis that lose their data with their pods, the logins and Secrets, and the chart with its profile "small".
# Needs kubectl, helm 4, openssl and Node 24. Passwords stay in FOLDER, and no program gets one as an argument, which every
# user of the machine could read. More arguments go to helm.
set -eu
umask 077
cd "$(dirname "$0")/../.."
NAMESPACE=${NAMESPACE:-toolgate}
FOLDER=${FOLDER:-.data/trial}

k() { kubectl --namespace "$NAMESPACE" "$@"; }
# Creates a Secret, or replaces it.
secret() { k create secret generic "$@" --dry-run=client --output=yaml | k apply --server-side --filename=-; }
# The secret in a file, which is made at the first time.
kept() { [ -s "$FOLDER/$1" ] || openssl rand "$2" 32 > "$FOLDER/$1"; cat "$FOLDER/$1"; }

mkdir -p "$FOLDER"
kubectl get namespace "$NAMESPACE" > /dev/null 2>&1 || kubectl create namespace "$NAMESPACE"
kubectl label --overwrite namespace "$NAMESPACE" pod-security.kubernetes.io/enforce=restricted

PASSWORD=$(kept postgres-password -hex)
DATABASE_URL="postgres://toolgate:$PASSWORD@postgres:5432/toolgate" NATS_URL=nats://nats:4222 REDIS_URL=redis://redis:6379 \
  node deploy/installation/src/logins-main.ts "$FOLDER/logins"
for file in "$FOLDER"/logins/*.env; do
  secret "toolgate-login-$(basename "$file" .env)" --from-env-file="$file"
done
secret toolgate-logins --from-file="$FOLDER/logins"
printf 'SEALING_KEYS=1:%s\n' "$(kept sealing-key -base64)" > "$FOLDER/sealing-keys.env"
secret toolgate-sealing-keys --from-env-file="$FOLDER/sealing-keys.env"
TOKEN=$(kept sandbox-token -hex)
HASH=$(printf %s "$TOKEN" | openssl dgst -sha256 -r | cut -d ' ' -f 1)
printf 'SANDBOX_TOKEN=%s\nSANDBOX_TOKEN_HASH=%s\n' "$TOKEN" "$HASH" > "$FOLDER/sandbox-token.env"
secret toolgate-sandbox-token --from-env-file="$FOLDER/sandbox-token.env"
printf %s "$PASSWORD" > "$FOLDER/password"
secret trial-servers --from-file="$FOLDER/password" \
  --from-file="$FOLDER/logins/nats-users.conf" --from-file="$FOLDER/logins/redis-users.conf"

k apply --server-side --filename=deploy/trial/servers.yaml
k rollout status --timeout=180s deployment/postgres deployment/nats deployment/redis
helm --namespace "$NAMESPACE" upgrade --install toolgate charts/toolgate --values charts/toolgate/ci/small.yaml \
  --set image.repository=toolgate,image.tag=0.1.0,image.pullPolicy=IfNotPresent --wait --timeout 300s "$@"
helm --namespace "$NAMESPACE" test toolgate
echo "Reach the gateway with: kubectl -n $NAMESPACE port-forward service/toolgate-gateway 8080:80"

#!/bin/sh
# A trial of Toolgate in a cluster on this machine. Needs Docker, kind, kubectl, helm 4, openssl and Node 24.
# Run it from the root of the repository, also a second time: it keeps the cluster and its passwords.
# Removal: kind delete cluster --name toolgate; rm -r .data/trial
set -eu
cd "$(dirname "$0")/../.."

kind get clusters | grep -qx toolgate || kind create cluster --config deploy/kind.yaml --wait 120s
docker build -f deploy/Dockerfile -t toolgate:0.1.0 .
kind load docker-image --name toolgate toolgate:0.1.0
kubectl config use-context kind-toolgate
exec sh deploy/trial/install.sh

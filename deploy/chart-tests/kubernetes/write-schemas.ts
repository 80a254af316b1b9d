import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Writes kubernetes/<version>.json: the strict schemas (unknown fields refused) of the kinds that the chart makes, without
 * descriptions. They come from kubernetes-validate 1.37.0 (https://github.com/willthames/kubernetes-validate, Apache License
 * 2.0, © 2018 Will Thames), which makes them from the OpenAPI description of Kubernetes (Apache License 2.0, © The Kubernetes
 * Authors). To make them again:
 *
 *   pip download --no-deps -d /tmp/validate kubernetes-validate==1.37.0
 *   unzip -q /tmp/validate/kubernetes_validate-1.37.0-py3-none-any.whl -d /tmp/validate
 *   node deploy/chart-tests/kubernetes/write-schemas.ts /tmp/validate/kubernetes_validate/kubernetes-json-schema 1.30 1.37
 */
const KINDS: Readonly<Record<string, string>> = {
  "apps/v1 Deployment": "io.k8s.api.apps.v1.Deployment",
  "autoscaling/v2 HorizontalPodAutoscaler": "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler",
  "batch/v1 Job": "io.k8s.api.batch.v1.Job",
  "networking.k8s.io/v1 Ingress": "io.k8s.api.networking.v1.Ingress",
  "networking.k8s.io/v1 NetworkPolicy": "io.k8s.api.networking.v1.NetworkPolicy",
  "policy/v1 PodDisruptionBudget": "io.k8s.api.policy.v1.PodDisruptionBudget",
  "v1 ConfigMap": "io.k8s.api.core.v1.ConfigMap",
  "v1 PersistentVolumeClaim": "io.k8s.api.core.v1.PersistentVolumeClaim",
  "v1 Pod": "io.k8s.api.core.v1.Pod",
  "v1 Secret": "io.k8s.api.core.v1.Secret",
  "v1 Service": "io.k8s.api.core.v1.Service",
  "v1 ServiceAccount": "io.k8s.api.core.v1.ServiceAccount",
};
const REF = /^.*#\/\$defs\//;

type Definitions = Record<string, unknown>;

const [folder, ...versions] = process.argv.slice(2);
if (folder === undefined || versions.length === 0) throw new Error("Usage: … <kubernetes-json-schema> <1.31> …");
for (const version of versions) {
  const file = join(folder, `v${version}.0-local-strict`, "_definitions.json");
  const all = JSON.parse(await readFile(file, "utf8")).$defs as Definitions;
  const kept: Definitions = {};
  for (const name of Object.values(KINDS)) keep(name, all, kept);
  const kinds = Object.fromEntries(
    Object.entries(KINDS).map(([kind, name]) => [kind, { $ref: `#/definitions/${name}` }]),
  );
  const target = new URL(`./${version}.json`, import.meta.url);
  await writeFile(target, `${JSON.stringify({ kinds, definitions: kept })}\n`);
}

/** Copies a definition and those that it refers to. */
function keep(name: string, all: Definitions, kept: Definitions): void {
  if (name in kept) return;
  const definition = all[name];
  if (definition === undefined) throw new Error(`no definition of ${name}`);
  kept[name] = undefined;
  kept[name] = JSON.parse(JSON.stringify(definition), (key, value) => {
    // A field may itself be called description.
    if (key === "description" && typeof value === "string") return undefined;
    if (key !== "$ref" || typeof value !== "string") return value;
    const referred = value.replace(REF, "");
    keep(referred, all, kept);
    return `#/definitions/${referred}`;
  });
}

import { eventually } from "@toolgate/testbed/eventually";
import type { Api } from "./api.ts";

const ZONES = ["a", "b", "c"] as const;
const NODES_PER_ZONE = 2;
/** The kinds of other projects that the chart makes; their operators do not run here. */
const CUSTOM_KINDS = [
  ["keda.sh", "v1alpha1", "ScaledObject"],
  ["gateway.networking.k8s.io", "v1", "HTTPRoute"],
  ["monitoring.coreos.com", "v1", "ServiceMonitor"],
  ["monitoring.coreos.com", "v1", "PrometheusRule"],
  ["external-secrets.io", "v1", "ExternalSecret"],
] as const;
const START = { deadlineMs: 120_000, everyMs: 200 };

/** Makes a node that KWOK plays, and waits until the scheduler may use it. */
async function addNode(api: Api, name: string, zone: string): Promise<void> {
  const labels = {
    "kubernetes.io/hostname": name,
    "kubernetes.io/os": "linux",
    "kubernetes.io/arch": "amd64",
    "topology.kubernetes.io/zone": zone,
  };
  await api.create("/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name, labels } });
  await eventually(async () => {
    const { spec, status } = await api.get(`/api/v1/nodes/${name}`);
    const conditions: { type: string; status: string }[] = status?.conditions ?? [];
    const isReady = conditions.some((one) => one.type === "Ready" && one.status === "True");
    return isReady && (spec.taints ?? []).length === 0;
  }, START);
}

/** Six nodes in three zones, and what administrators of a cluster give to all: classes, and the kinds of other projects. */
export async function furnish(api: Api): Promise<void> {
  await api.create("/apis/node.k8s.io/v1/runtimeclasses", { metadata: { name: "gvisor" }, handler: "runsc" });
  await api.create("/apis/scheduling.k8s.io/v1/priorityclasses", { metadata: { name: "important" }, value: 1_000 });
  await api.create("/apis/storage.k8s.io/v1/storageclasses", {
    metadata: { name: "efs" },
    provisioner: "kubernetes.io/no-provisioner",
  });
  for (const [group, version, kind] of CUSTOM_KINDS) {
    const singular = kind.toLowerCase();
    const name = `${singular}s.${group}`;
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const openAPIV3Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    await api.create(path, {
      // Without the annotation the API server refuses kinds of groups such as gateway.networking.k8s.io.
      metadata: { name, annotations: { "api-approved.kubernetes.io": "unapproved, for tests" } },
      spec: {
        group,
        scope: "Namespaced",
        names: { kind, plural: `${singular}s`, singular, listKind: `${kind}List` },
        versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema } }],
      },
    });
    await eventually(async () => {
      const conditions: { type: string; status: string }[] =
        (await api.get(`${path}/${name}`)).status?.conditions ?? [];
      return conditions.some((one) => one.type === "Established" && one.status === "True");
    }, START);
  }
  for (const zone of ZONES) {
    for (let count = 1; count <= NODES_PER_ZONE; count++) await addNode(api, `node-${zone}${count}`, zone);
  }
}

import { eventually } from "@toolgate/testbed/eventually";
import type { Api } from "./api.ts";
import { customResourceDefinitions } from "./crds.ts";

const ZONES = ["a", "b", "c"] as const;
const NODES_PER_ZONE = 2;
const START = { deadlineMs: 120_000, everyMs: 200 };

/** Makes a node that KWOK plays, and waits until the scheduler may use it. */
export async function addNode(api: Api, name: string, zone: string): Promise<void> {
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
  for (const definition of customResourceDefinitions()) {
    await api.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
  }
  for (const definition of customResourceDefinitions()) {
    await eventually(async () => {
      const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definition.metadata.name}`;
      const conditions: { type: string; status: string }[] = (await api.get(path)).status?.conditions ?? [];
      return conditions.some((one) => one.type === "Established" && one.status === "True");
    }, START);
  }
  for (const zone of ZONES) {
    for (let count = 1; count <= NODES_PER_ZONE; count++) await addNode(api, `node-${zone}${count}`, zone);
  }
}

import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addNode } from "../src/simulated-cluster.ts";
import { createNamespace, everythingIsReady, type Namespace, PATIENCE } from "./cluster.ts";

const NODE = "node-a1";

let namespace: Namespace;
beforeAll(async () => {
  namespace = await createNamespace();
  await namespace.install("small", "--set", "processDefaults.replicas=6");
});
afterAll(async () => {
  await addNode(namespace.api, NODE, "a");
  await namespace[Symbol.asyncDispose]();
});

async function podsOnNode(): Promise<number> {
  const pods = await namespace.api.list(`/api/v1/namespaces/${namespace.name}/pods`);
  return pods.filter(({ metadata, spec }) => spec.nodeName === NODE && metadata.deletionTimestamp === undefined).length;
}

test("a node is drained within the disruption budgets, and its pods start elsewhere", async () => {
  expect(await podsOnNode()).toBeGreaterThan(0);
  await namespace.kubectl("drain", NODE, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=150s");
  expect(await podsOnNode()).toBe(0);
  await eventually(() => everythingIsReady(namespace), PATIENCE);
  await namespace.kubectl("uncordon", NODE);
});

test("each process may lose one pod at a time", async () => {
  const budget = `/apis/policy/v1/namespaces/${namespace.name}/poddisruptionbudgets/toolgate-gateway`;
  await eventually(async () => {
    const { status } = await namespace.api.get(budget);
    expect([status.expectedPods, status.currentHealthy, status.disruptionsAllowed]).toEqual([6, 6, 1]);
  }, PATIENCE);
});

test("the pods of a node that is gone start elsewhere", async () => {
  await namespace.kubectl("rollout", "restart", "deployment");
  await eventually(() => everythingIsReady(namespace), PATIENCE);
  expect(await podsOnNode()).toBeGreaterThan(0);
  await namespace.api.delete(`/api/v1/nodes/${NODE}`);
  await eventually(async () => {
    expect(await podsOnNode()).toBe(0);
    await everythingIsReady(namespace);
  }, PATIENCE);
});

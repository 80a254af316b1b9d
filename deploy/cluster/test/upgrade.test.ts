import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createNamespace, type Namespace, PATIENCE } from "./cluster.ts";
import { objectsIn } from "./leftovers.ts";

let namespace: Namespace;
beforeAll(async () => {
  namespace = await createNamespace();
  await namespace.install("small", "--set", "processDefaults.replicas=2");
});
afterAll(() => namespace[Symbol.asyncDispose]());

const SMALL = ["small", "--set", "processDefaults.replicas=2"] as const;
const version = (tag: string) => [...SMALL, "--set", `image.tag=${tag}`] as const;

async function imagesOfReadyPods(process: string): Promise<string[]> {
  const pods = await namespace.pods(process);
  const ready = pods.filter(({ status }) =>
    status.conditions?.some((one: { type: string; status: string }) => one.type === "Ready" && one.status === "True"),
  );
  return ready.map(({ spec }): string => spec.containers[0].image).sort();
}

/** Runs a command and returns the fewest pods that were available at any time. */
async function fewestAvailable(process: string, command: Promise<unknown>): Promise<number> {
  let isRunning = true;
  const ended = command.finally(() => {
    isRunning = false;
  });
  ended.catch(() => {});
  let fewest = Number.POSITIVE_INFINITY;
  while (isRunning) fewest = Math.min(fewest, (await namespace.deployment(process)).status.availableReplicas ?? 0);
  await ended;
  return fewest;
}

test("an upgrade replaces every pod, and no process has fewer available than it should", async () => {
  expect(await fewestAvailable("gateway", namespace.upgrade(...version("next")))).toBe(2);
  for (const process of ["gateway", "key-auth", "sandbox"]) {
    await eventually(
      async () => expect(await imagesOfReadyPods(process)).toEqual(["toolgate:next", "toolgate:next"]),
      PATIENCE,
    );
  }
});

test("a rollback brings back the version before, without a gap", async () => {
  expect(
    await fewestAvailable("gateway", namespace.helm("rollback", "toolgate", "1", "--wait", "--timeout", "150s")),
  ).toBe(2);
  const [first] = await imagesOfReadyPods("gateway");
  expect(first).toBe("toolgate:0.1.0");
});

test("a version whose migrations fail is not rolled out", async () => {
  const broken = ["--set", "migrations.backoffLimit=0"];
  await expect(namespace.upgrade(...version("broken"), ...broken)).rejects.toThrow(/pre-upgrade hooks failed/);
  expect(await imagesOfReadyPods("gateway")).toEqual(["toolgate:0.1.0", "toolgate:0.1.0"]);
  const job = `/apis/batch/v1/namespaces/${namespace.name}/jobs/toolgate-migrations`;
  expect((await namespace.api.get(job)).status.failed, "the Job stays, with its log").toBe(1);
});

test("a version that does not become ready leaves the old pods, and a rollback ends it", async () => {
  const broken = namespace.upgrade(
    ...version("broken"),
    "--set",
    "migrations.mode=none",
    "--set",
    "migrations.createRoles=false",
    "--timeout",
    "20s",
  );
  await expect(broken).rejects.toThrow(/not ready|deadline|timed? ?out/i);
  expect(await imagesOfReadyPods("gateway")).toEqual(["toolgate:0.1.0", "toolgate:0.1.0"]);
  await namespace.helm("rollback", "toolgate", "1", "--wait", "--timeout", "150s");
  expect((await namespace.deployment("gateway")).status.updatedReplicas).toBe(2);
  expect(await imagesOfReadyPods("gateway")).toEqual(["toolgate:0.1.0", "toolgate:0.1.0"]);
});

test("helm test fails when its pod fails", async () => {
  expect(await namespace.helm("test", "toolgate")).toMatch(/Phase: +Succeeded/);
  await namespace.upgrade(...SMALL, "--set", "tests.tool=broken");
  await expect(namespace.helm("test", "toolgate")).rejects.toThrow(/toolgate-test failed/);
});

test("an upgrade to another topology removes what is not used any more", async () => {
  const before = await objectsIn(namespace);
  expect(before).toContain("networkpolicy.networking.k8s.io/toolgate-gateway");
  await namespace.upgrade(...SMALL, "--set", "topology=single");
  await eventually(async () => {
    const deployments = (await objectsIn(namespace)).filter((name) => name.startsWith("deployment"));
    expect(deployments).toEqual(["deployment.apps/toolgate-toolgate"]);
  }, PATIENCE);
});

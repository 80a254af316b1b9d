import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type MetricsApi, startMetricsApi } from "../src/metrics-api.ts";
import { createNamespace, type Namespace, PATIENCE } from "./cluster.ts";

const WORKER = "outbound-webhook-worker";
// An autoscaler may remove at once what it added in the last minute: no earlier than that it removes one at a time.
const SCALE_DOWN_SECONDS = 60;
const SCALERS = [
  "--set-json",
  `processes.${WORKER}.autoscaling={"enabled":true,"minReplicas":1,"maxReplicas":50,"metric":"external","scaleDownSeconds":${SCALE_DOWN_SECONDS}}`,
  "--set-json",
  'processes.gateway.autoscaling={"enabled":true,"minReplicas":1,"maxReplicas":5}',
];

let namespace: Namespace;
let metrics: MetricsApi;
beforeAll(async () => {
  namespace = await createNamespace();
  metrics = await startMetricsApi(namespace.api);
  await namespace.install("small", ...SCALERS);
});
afterAll(async () => {
  await namespace[Symbol.asyncDispose]();
  await metrics[Symbol.asyncDispose]();
});

async function replicas(process: string): Promise<number> {
  const { spec, status } = await namespace.deployment(process);
  expect(status.readyReplicas).toBe(spec.replicas);
  return spec.replicas;
}

async function scaler(process: string) {
  return namespace.api.get(
    `/apis/autoscaling/v2/namespaces/${namespace.name}/horizontalpodautoscalers/toolgate-${process}`,
  );
}

/** The number of replicas that the autoscaler computed from a value, once it has seen this value. */
async function wantedFor(pending: number): Promise<number> {
  const { status } = await scaler(WORKER);
  const average: string = status.currentMetrics[0].external.current.averageValue;
  const seen = Number.parseInt(average, 10) * (average.endsWith("m") ? 0.001 : 1) * status.currentReplicas;
  expect(Math.abs(seen - pending)).toBeLessThan(1);
  return status.desiredReplicas;
}

/** Sets one series of Prometheus in this namespace. */
function setSeries(name: string, consumer: string, value: number): void {
  const found = metrics.series.find((one) => one.name === name && one.labels.consumer === consumer);
  if (found) found.value = value;
  else metrics.series.push({ name, namespace: namespace.name, labels: { consumer }, value });
}

const setPending = (value: number) => setSeries("toolgate_consumer_pending", "outbound-webhook-workers", value);

test("kubectl scale changes one process, and an upgrade does not overrule it unless it is told to", async () => {
  await namespace.kubectl("scale", "deployment/toolgate-key-auth", "--replicas=4");
  await eventually(async () => expect(await replicas("key-auth")).toBe(4), PATIENCE);
  expect(await replicas("tool-runner")).toBe(1);
  await expect(namespace.upgrade("small", ...SCALERS)).rejects.toThrow(/conflict.*\.spec\.replicas/s);
  expect(await replicas("key-auth")).toBe(4);
  await namespace.upgrade("small", ...SCALERS, "--force-conflicts");
  expect(await replicas("key-auth")).toBe(1);
});

test("a process that was scaled by kubectl keeps its pods when its autoscaler is turned on", async () => {
  await namespace.kubectl("scale", "deployment/toolgate-tool-runner", "--replicas=3");
  const scaled = `processes.tool-runner.autoscaling={"enabled":true,"minReplicas":2,"maxReplicas":5}`;
  await namespace.upgrade("small", ...SCALERS, "--set-json", scaled);
  expect(await replicas("tool-runner")).toBe(3);
  await namespace.upgrade("small", ...SCALERS, "--force-conflicts");
});

test("10 waiting attempts need one worker, and 400 need four, with 100 for each", async () => {
  setPending(10);
  await eventually(async () => expect(await wantedFor(10)).toBe(1), PATIENCE);
  setPending(400);
  await eventually(async () => expect(await wantedFor(400)).toBe(4), PATIENCE);
  await eventually(async () => expect(await replicas(WORKER)).toBe(4), PATIENCE);
});

test("messages of other consumers and retries that sleep add no worker", async () => {
  setSeries("toolgate_consumer_pending", "outbound-webhook-fan-out", 100_000);
  setSeries("toolgate_deliveries_sleeping", "outbound-webhook-workers", 100_000);
  // The autoscaler has seen a value that was set after them.
  setPending(399);
  await eventually(async () => expect(await wantedFor(399)).toBe(4), PATIENCE);
  expect(await replicas(WORKER)).toBe(4);
});

test("an upgrade of the chart does not touch what the autoscaler decided", async () => {
  await namespace.upgrade("small", ...SCALERS, "--set", "image.tag=next");
  expect((await namespace.deployment(WORKER)).spec.replicas).toBe(4);
});

test("fewer waiting attempts remove one worker at a time", async () => {
  setPending(10);
  await eventually(async () => {
    const events = await namespace.api.list(`/api/v1/namespaces/${namespace.name}/events`);
    const sizes = events
      .filter(
        ({ reason, involvedObject }) => reason === "SuccessfulRescale" && involvedObject.name === `toolgate-${WORKER}`,
      )
      .map(({ message }) => /New size: (\d+)/.exec(message)?.[1]);
    expect(sizes.length).toBeGreaterThanOrEqual(2);
    // Their names are in the order of time.
    expect(sizes).toEqual(["4", "3", "2", "1"].slice(0, sizes.length));
  }, PATIENCE);
});

test("the gateway scales on the share of the CPU that it asks for", async () => {
  // 50 millicores are asked for, and 70 % of them wanted: 100 used by one pod need three.
  metrics.cpu.set(namespace.name, 100);
  await eventually(
    async () => expect((await namespace.deployment("gateway")).spec.replicas).toBeGreaterThanOrEqual(3),
    PATIENCE,
  );
});

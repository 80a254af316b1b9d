import pLimit from "p-limit";
import { type BenchInstallation, startInstallation } from "../installation/start-installation.ts";
import { sumOf } from "../machine/meter.ts";
import type { BenchSettings, Part } from "../report.ts";
import type { EventTarget } from "./messages.ts";
import { greet, type Saturated, saturate, sendSteadily, startReceiver, startTraffic } from "./traffic.ts";

const CONCURRENT_REQUESTS = 8;
/** Each occupies a database connection while a password is hashed. */
const CONCURRENT_WORKSPACES = 2;
const PER_SECOND = 200;
const ONE_ENDPOINT_BACKLOG = 5_000;
const MANY_ENDPOINTS_BACKLOG = 2_000;

export async function measureDeliveries(settings: BenchSettings): Promise<Part> {
  const { signal, seconds, log } = settings;
  await using resources = new AsyncDisposableStack();
  const receiver = await startReceiver(resources, settings);
  const dataDir = `${settings.dataDir}/deliveries`;
  const installation = resources.use(await startInstallation("single", { ...settings, dataDir, receiver }));
  const traffic = await startTraffic(resources, installation, receiver.process, signal);
  const select = async (endpoints: number, workspaces: number) => {
    const targets = await registerEndpoints(installation, receiver.url, endpoints, workspaces);
    await traffic.publisher.ask({ kind: "targets", targets });
    await greet(traffic, endpoints);
  };
  const forMs = seconds * 2_000;
  await select(100, 5);
  const paced = await sendSteadily(traffic, PER_SECOND, forMs);
  const hundred = await saturate(traffic, MANY_ENDPOINTS_BACKLOG, forMs);
  await select(1, 1);
  const one = await saturate(traffic, ONE_ENDPOINT_BACKLOG, forMs);
  log(`deliveries: ${hundred.perSecond.toFixed(0)}/s to 100 endpoints, ${one.perSecond.toFixed(0)}/s to one`);
  const flaws = [paced, hundred, one].reduce((sum, { missing, repeated }) => sum + missing + repeated, 0);
  return {
    title: "Deliveries",
    text: `Events published as a service's outbox does, to https receivers that answer at once: 100 endpoints of 5 workspaces, and one endpoint with thousands
waiting. CPU is that of services and servers. Nobody else was measured in this run; \`docs/\` names other systems' figures where they are known.`,
    rows: [
      { what: "100 endpoints: deliveries per second", unit: "", toolgate: hundred.perSecond, wanted: "≥ 2,000" },
      { what: "100 endpoints: CPU per delivery", unit: "µs", toolgate: cpuUs(hundred), wanted: "≤ 330 µs" },
      { what: "one endpoint with a backlog: deliveries per second", unit: "", toolgate: one.perSecond },
      { what: "one endpoint with a backlog: CPU per delivery", unit: "µs", toolgate: cpuUs(one) },
      {
        what: `${PER_SECOND} events/s: published to received, p50`,
        unit: "ms",
        digits: 1,
        toolgate: paced.latency.p50Ms,
        wanted: "≤ 6 ms",
      },
      { what: "the same, p99", unit: "ms", digits: 1, toolgate: paced.latency.p99Ms },
      { what: "the same, processors used", unit: "", digits: 2, toolgate: paced.cpuMs / paced.tookMs },
      { what: "events lost or delivered twice", unit: "", toolgate: flaws, wanted: "0" },
    ],
  };
}

const cpuUs = ({ usage, delivered }: Saturated) => (sumOf(usage.cpuMs) * 1_000) / delivered;

/**
 * Registers endpoints, each of which subscribes to a type of its own. Neighbours in the list belong to different
 * workspaces, so that events taken in turn load all workspaces evenly.
 */
async function registerEndpoints(
  { addWorkspace, manage }: BenchInstallation,
  receiverUrl: string,
  endpoints: number,
  workspaces: number,
): Promise<EventTarget[]> {
  const names = Array.from({ length: workspaces }, (_, index) => `endpoints-${endpoints}-${index}`);
  const ids = await pLimit(CONCURRENT_WORKSPACES).map(names, (name) => addWorkspace(name));
  const plan = Array.from({ length: endpoints }, (_, index) => {
    const at = index % names.length;
    return { workspace: names[at] as string, workspaceId: ids[at] as string, type: `custom.e${index}` };
  });
  // A workspace has at most 20 endpoints.
  await pLimit(CONCURRENT_REQUESTS).map(plan, ({ workspace, type }, index) =>
    manage("outbound_webhook.v1.EndpointService/CreateEndpoint", {
      workspace,
      url: `${receiverUrl}/${endpoints}/${index}`,
      events: [type],
    }),
  );
  return plan;
}

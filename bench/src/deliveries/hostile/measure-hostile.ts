import type { BenchInstallation } from "../../installation/start-installation.ts";
import type { EventTarget } from "../messages.ts";
import { sendSteadily, type Traffic } from "../traffic.ts";
import type { Hostility } from "./hostile-server.ts";

export type HostileSettings = {
  installation: BenchInstallation;
  traffic: Traffic;
  receiverUrl: string;
  hostileUrl: string;
  log: (line: string) => void;
};

const ENDPOINTS = 19;
const PER_SECOND = 95;
/** The first second, the time until the first attempts have timed out, and afterwards. */
const STAGES = { "first second": 1_000, "until 12 s": 11_000, afterwards: 10_000 };

/** Five of nineteen endpoints of one workspace. */
const MIXES: Readonly<Record<string, readonly Hostility[]>> = {
  none: [],
  "bodies drip, headers flood": ["hang", "hang", "drip-body", "flood-headers", "large-body"],
  "headers drip, 1xx flood": ["hang", "hang", "drip-headers", "flood-interim", "large-body"],
};

/** How long deliveries to healthy endpoints take while others of their workspace are hostile from their first event on. */
export async function measureHostile(settings: HostileSettings): Promise<void> {
  const { traffic, log } = settings;
  for (const [mix, hostile] of Object.entries(MIXES)) {
    const targets = await registerEndpoints(settings, `mix-${Object.keys(MIXES).indexOf(mix)}`, hostile);
    await traffic.publisher.ask({ kind: "targets", targets });
    const getsResponse = (n: number) => n % ENDPOINTS >= hostile.length;
    for (const [stage, forMs] of Object.entries(STAGES)) {
      const { latency, missing } = await sendSteadily(traffic, { perSecond: PER_SECOND, forMs, getsResponse });
      const { p50Ms, p99Ms, maxMs } = latency;
      if (latency.count === 0) throw new Error("no delivery arrived");
      const figures = `p50 ${p50Ms.toFixed(1)} p99 ${p99Ms.toFixed(1)} max ${maxMs.toFixed(1)} ms`;
      log(`hostile: ${mix}; ${stage}: ${figures}${missing > 0 ? `, ${missing} missing` : ""}`);
    }
  }
}

/** The hostile endpoints come first. Each endpoint has a type of its own. */
async function registerEndpoints(
  { installation, receiverUrl, hostileUrl }: HostileSettings,
  workspace: string,
  hostile: readonly Hostility[],
): Promise<EventTarget[]> {
  const workspaceId = await installation.addWorkspace(workspace);
  const targets: EventTarget[] = [];
  for (let index = 0; index < ENDPOINTS; index += 1) {
    const hostility = hostile[index];
    const url = hostility ? `${hostileUrl}/${hostility}` : `${receiverUrl}/${workspace}/${index}`;
    const type = `custom.e${index}`;
    await installation.manage("outbound_webhook.v1.EndpointService/CreateEndpoint", { workspace, url, events: [type] });
    targets.push({ workspaceId, workspace, type });
  }
  return targets;
}

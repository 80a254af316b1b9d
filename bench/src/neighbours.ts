import { constants, setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { startReceiver } from "./deliveries/traffic.ts";
import { addHooks } from "./hooks.ts";
import { type BenchInstallation, startInstallation } from "./installation/start-installation.ts";
import { startGenerator } from "./load/generator-process.ts";
import type { LoadTarget } from "./load/score.ts";
import type { BenchSettings, Part, Row } from "./report.ts";

const QUIET_PER_SECOND = 40;
const LEAD_MS = 1_500;
const WARM_UP_MS = 2_000;
const SETTLE_MS = 3_000;
const KEYS = 10;
const SLOW_MS = 200;
const LIMIT = 10_000;

const TEXT = `const text = (length) => {
  let [state, made] = [1, ""];
  while (made.length < length) made += (state = (state * 48271) % 2147483647).toString(36);
  return made.slice(0, length);
};
`;
/** Handlers of the noisy workspace. */
const HANDLERS = {
  plain: "export default () => ({ success: true });",
  loop: "export default () => { for (;;); };",
  bomb: "export default () => { const kept = []; for (;;) kept.push(new Array(10_000).fill(kept.length)); };",
  large: `${TEXT}const large = text(1_000_000);\nexport default () => ({ success: true, large });`,
  events: `${TEXT}const data = { text: text(1_000) };
export default async (_, ctx) => {
  await Promise.all(Array.from({ length: 20 }, () => ctx.emitWebhook("noisy", data)));
  return { success: true };
};`,
};
type Handler = keyof typeof HANDLERS;

/** What the noisy workspace does, from how many connections, and whether its receiver is slow. */
const ATTACKS: { what: string; lanes: number; tool?: Handler; hooks?: boolean; revoked?: boolean; slow?: boolean }[] = [
  { what: "makes plain calls without a pause", lanes: 24, tool: "plain" },
  { what: "runs endless loops", lanes: 8, tool: "loop" },
  { what: "fills its memory", lanes: 8, tool: "bomb" },
  { what: "returns results of 1 MB", lanes: 16, tool: "large" },
  { what: "emits 20 events per run", lanes: 8, tool: "events" },
  { what: "the same, to a receiver that takes 200 ms", lanes: 8, tool: "events", slow: true },
  { what: "calls its hooks without a pause", lanes: 24, hooks: true },
  { what: "calls with revoked keys without a pause", lanes: 24, revoked: true },
];

/** A quiet workspace calls a tool at a fixed, low rate, without and with another one that does its worst. */
export async function measureNeighbours(settings: BenchSettings): Promise<Part> {
  const { signal, seconds, log } = settings;
  await using resources = new AsyncDisposableStack();
  const receiver = await startReceiver(resources, settings);
  const dataDir = `${settings.dataDir}/neighbours`;
  const installation = resources.use(await startInstallation("single", { ...settings, dataDir, receiver }));
  const quiet = await startGenerator(resources, signal);
  const noisy = await startGenerator(resources, signal);
  // It stands for many machines elsewhere.
  setPriority(noisy.pid, constants.priority.PRIORITY_LOW);
  const quietTarget = await addCaller(installation, "quiet", "plain", 1);
  const see = async (measureMs: number) => {
    const mode = { kind: "open" as const, perSecond: QUIET_PER_SECOND };
    const { latency, statuses, responses } = await quiet.ask({ target: quietTarget, mode, warmUpMs: 0, measureMs });
    return { ...latency, failed: responses - (statuses[200] ?? 0) };
  };
  await see(WARM_UP_MS);
  const rows: Row[] = [];
  for (const [index, { what, lanes, tool, hooks, revoked, slow }] of ATTACKS.entries()) {
    const workspace = `noisy-${index}`;
    const path = `/${workspace}`;
    const target: LoadTarget = hooks
      ? { port: installation.port, hooks: await addHooks(installation, [workspace], 1) }
      : await addCaller(installation, workspace, tool ?? "plain", KEYS, `${receiver.url}${path}`);
    if (revoked) await revokeKeys(installation, workspace);
    await receiver.process.ask({ kind: "slow", paths: [path], respondAfterMs: slow ? SLOW_MS : 0 });
    const before = await see(seconds * 1_000);
    const mode = { kind: "closed" as const, concurrency: lanes };
    const attack = noisy.ask({ target, mode, warmUpMs: LEAD_MS, measureMs: seconds * 1_000 });
    await sleep(LEAD_MS, undefined, { signal });
    const beside = await see(seconds * 1_000);
    const { statuses } = await attack;
    log(`${what}: ${JSON.stringify({ before, beside, statuses })}`);
    const figure = { unit: "ms", digits: 1 };
    rows.push({ ...figure, what: `${what}: p50`, toolgate: beside.p50Ms, peer: before.p50Ms, wanted: "≤ 2 ×" });
    rows.push({ ...figure, what: "p99", toolgate: beside.p99Ms, peer: before.p99Ms, wanted: "≤ 5 ×" });
    if (beside.failed > 0) rows.push({ what: "failed calls", unit: "", toolgate: beside.failed, wanted: "0" });
    await sleep(SETTLE_MS, undefined, { signal });
  }
  return {
    title: "Neighbours",
    text: `A quiet workspace calls a tool ${QUIET_PER_SECOND} times a second while another workspace does its worst; *peer* is the same without the other workspace,
just before. All in one process on this machine, load generators included. Failed calls are listed where there were any.`,
    rows,
  };
}

/** A workspace with a tool, an endpoint for its events, and keys that call it. */
async function addCaller(
  { addWorkspace, manage, port }: BenchInstallation,
  workspace: string,
  tool: Handler,
  keys: number,
  receiverUrl?: string,
): Promise<Extract<LoadTarget, { secrets: string[] }>> {
  await addWorkspace(workspace);
  const definition = {
    description: "A tool",
    external_api: true,
    external_api_write: true,
    handler: HANDLERS[tool],
  };
  await manage("tool_runner.v1.ToolService/SaveTool", { workspace, name: tool, definition, confirmExposure: true });
  if (receiverUrl)
    await manage("outbound_webhook.v1.EndpointService/CreateEndpoint", {
      workspace,
      url: receiverUrl,
      events: ["custom.noisy"],
    });
  const secrets: string[] = [];
  for (let index = 0; index < keys; index += 1) {
    const key = { workspace, name: `Key ${index}`, tools: [tool], limit: LIMIT };
    secrets.push((await manage<{ secret: string }>("key_auth.v1.KeyService/CreateKey", key)).secret);
  }
  return { port, path: `/api/v1/tools/${tool}`, body: JSON.stringify({ args: {} }), secrets };
}

async function revokeKeys({ manage }: BenchInstallation, workspace: string): Promise<void> {
  const { keys } = await manage<{ keys: { id: string }[] }>("key_auth.v1.KeyService/ListKeys", { workspace });
  for (const { id } of keys) await manage("key_auth.v1.KeyService/RevokeKey", { workspace, keyId: id });
}

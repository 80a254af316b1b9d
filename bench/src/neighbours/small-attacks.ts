import { generateSecret } from "@toolgate/api-key/secret";
import { addHooks, QUICK } from "../hooks/bench-hooks.ts";
import { DELIVERED_TOOLS } from "./noisy-tools.ts";
import {
  type Attack,
  calling,
  callsOf,
  KEYS,
  makeKeys,
  mcpRequestsOf,
  type NoisyWorkspace,
  own,
  randomText,
  saveQuery,
  saveTool,
} from "./noisy-workspace.ts";
import type { NoisyRequest } from "./orders.ts";

const FAN_OUT_ENDPOINTS = 20;

/** Much small work. */
export const SMALL_ATTACKS: readonly Attack[] = [
  { what: "emits 20 small events per run to 20 endpoints each", lanes: 24, prepare: prepareFanOut },
  { what: "reads 200 variables per run", lanes: 24, prepare: calling("many-variables") },
  { what: "makes 200 small queries per run", lanes: 24, prepare: prepareSmallQueries },
  { what: "writes and reads 100 cells one by one per run", lanes: 24, prepare: calling("many-sheets") },
  { what: "calls 200 small tools per run", lanes: 24, prepare: prepareSmallTools },
  {
    what: "makes 100 small requests to a server outside per run, half of them POST",
    lanes: 24,
    prepare: prepareFetches,
  },
  { what: "sends small hooks without a pause", lanes: 24, prepare: prepareHooks },
  { what: "sends hooks of 250 KB", lanes: 16, prepare: (workspace) => prepareHooks(workspace, 250_000) },
  { what: "calls a tool over MCP without a pause", lanes: 24, prepare: prepareMcpCalls },
  { what: "sends invalid arguments without a pause", lanes: 24, prepare: prepareInvalid },
  { what: "calls with unknown keys without a pause", lanes: 24, prepare: prepareUnknownKeys },
  { what: "calls with keys at their limit without a pause", lanes: 24, prepare: prepareSpentKeys },
];

function prepareFetches(workspace: NoisyWorkspace): Promise<NoisyRequest[]> {
  return calling("many-fetches", { text: `${workspace.receiverUrl}/noisy/fast` })(workspace);
}

async function prepareHooks({ name, installation }: NoisyWorkspace, characters = 10): Promise<NoisyRequest[]> {
  const options = { perWorkspace: KEYS, handler: QUICK, format: "HOOK_FORMAT_BEARER" } as const;
  const hooks = await addHooks(installation, { workspaces: [`${name}-hooks`], ...options });
  const body = JSON.stringify({ text: randomText(characters), count: 1 });
  return hooks.map(({ path, secret }) => ({
    method: "POST",
    path,
    headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
    body,
    once: true,
  }));
}

async function prepareMcpCalls(workspace: NoisyWorkspace): Promise<NoisyRequest[]> {
  await saveTool(workspace, "ignore");
  return mcpRequestsOf(await makeKeys(workspace, ["ignore"]), "tools/call", { name: "ignore", arguments: {} });
}

async function prepareInvalid(workspace: NoisyWorkspace): Promise<NoisyRequest[]> {
  const requests = await calling("ignore")(workspace);
  return requests.map((request) => ({ ...request, body: '{"args":{"text":1}}' }));
}

async function prepareUnknownKeys(workspace: NoisyWorkspace): Promise<NoisyRequest[]> {
  await saveTool(workspace, "ignore");
  return callsOf(Array.from({ length: KEYS }, generateSecret), "ignore", {});
}

/** Keys that have reached their limit. */
async function prepareSpentKeys(workspace: NoisyWorkspace): Promise<NoisyRequest[]> {
  await saveTool(workspace, "ignore");
  const requests = callsOf(await makeKeys(workspace, ["ignore"], 1), "ignore", {});
  return requests.map((request) => ({ ...request, eager: true }));
}

async function prepareSmallTools(workspace: NoisyWorkspace): Promise<NoisyRequest[]> {
  await saveTool(workspace, "ignore");
  return calling("many-tools")(workspace);
}

async function prepareSmallQueries(workspace: NoisyWorkspace): Promise<NoisyRequest[]> {
  await saveQuery(workspace, "small", "select 1 as one");
  return calling("many-queries")(workspace);
}

async function prepareFanOut(workspace: NoisyWorkspace): Promise<NoisyRequest[]> {
  const url = `${workspace.receiverUrl}${DELIVERED_TOOLS["emit-fast"]}`;
  for (let count = 0; count < FAN_OUT_ENDPOINTS; count += 1) {
    const endpoint = { url, events: ["custom.small"] };
    await own(workspace, "outbound_webhook.v1.EndpointService/CreateEndpoint", endpoint);
  }
  return calling("emit-small")(workspace);
}

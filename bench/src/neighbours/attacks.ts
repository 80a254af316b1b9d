import { setTimeout as sleep } from "node:timers/promises";
import { sign } from "@toolgate/webhook-signing/sign";
import pLimit from "p-limit";
import {
  type Attack,
  CONCURRENT_REQUESTS,
  calling,
  callsOf,
  type Endpoint,
  makeKeys,
  mcpRequestsOf,
  type NoisyWorkspace,
  own,
  randomText,
  saveQuery,
  saveTool,
  send,
} from "./noisy-workspace.ts";
import type { NoisyRequest } from "./orders.ts";
import { SMALL_ATTACKS } from "./small-attacks.ts";

const LARGE_TOOLS = 150;
const PROPERTIES_PER_TOOL = 40;
const LISTED_RUNS = 120;
const LARGE_CHARACTERS = 1_000_000;
const LOGGED_CHARACTERS = 60_000;

const UNDELIVERED = 20;
const UNDELIVERED_WITHIN_MS = 30_000;
const POLL_MS = 200;
const BOUNDARY = "noisy";
/** Refused at its end, so that the limit of what a user may store is never reached. */
const FILE_BYTES = 20 * 1024 * 1024 + 1;

export const ATTACKS: readonly Attack[] = [
  { what: "emits 20 events of 240 KB per run", lanes: 8, prepare: calling("emit") },
  { what: "the same, delivered to a fast receiver", lanes: 8, prepare: calling("emit-fast") },
  { what: "the same, delivered to a slow receiver", lanes: 8, prepare: calling("emit-slow") },
  { what: "returns results of 1 MB", lanes: 16, prepare: calling("return-large") },
  {
    what: "sends arguments of 1 MB",
    lanes: 16,
    prepare: calling("ignore", { text: randomText(LARGE_CHARACTERS) }),
  },
  {
    what: "logs 100 lines of 1,000 characters, 60 KB of arguments and results",
    lanes: 24,
    prepare: calling("log", { text: randomText(LOGGED_CHARACTERS) }),
  },
  {
    what: "stores answers of 1 MB under idempotency keys",
    lanes: 16,
    prepare: calling("return-large", { once: true }),
  },
  {
    what: "repeats a stored answer of 1 MB",
    lanes: 16,
    prepare: calling("return-large", { idempotencyKey: "repeated" }),
  },
  { what: "reads 3.9 MB with a prepared query, 4 times per run", lanes: 8, prepare: prepareQueries },
  { what: "writes and reads 10,000 cells of a sheet", lanes: 8, prepare: calling("sheet") },
  { what: "lists runs, the largest pages", lanes: 24, prepare: prepareRuns },
  {
    what: "lists tools, the largest pages",
    lanes: 24,
    prepare: prepareLists(["tool_runner.v1.ToolService/ListTools"]),
  },
  {
    what: "lists deliveries, keys and audit entries, the largest pages",
    lanes: 24,
    prepare: prepareLists([
      "outbound_webhook.v1.DeliveryService/ListDeliveries",
      "key_auth.v1.KeyService/ListKeys",
      "key_auth.v1.AuditService/ListAuditEntries",
    ]),
  },
  { what: "reads the OpenAPI description of 150 large tools", lanes: 16, prepare: prepareDescriptions },
  { what: "lists 150 large tools over MCP", lanes: 16, prepare: prepareMcp },
  { what: "pulls its undelivered events of 240 KB, signed", lanes: 16, prepare: preparePulls },
  { what: "uploads files of more than 20 MB to a chat", lanes: 8, prepare: prepareUploads },
  { what: "uses 0.85 s of CPU time per run", lanes: 24, prepare: calling("compute") },
  { what: "makes plain calls without a pause", lanes: 24, prepare: calling("ignore", { text: "hello" }) },
  ...SMALL_ATTACKS,
];

async function prepareQueries(workspace: NoisyWorkspace): Promise<NoisyRequest[]> {
  await saveQuery(workspace, "large", "select n, repeat(md5(n::text), 120) as text from generate_series(1, 1000) n");
  return calling("query")(workspace);
}

/** Events that its receiver has refused, and one signed request for them. */
async function preparePulls(workspace: NoisyWorkspace): Promise<NoisyRequest[]> {
  const { endpoint, secret } = (await saveTool(workspace, "emit-refused")) as Endpoint;
  const [call] = callsOf(await makeKeys(workspace, ["emit-refused"]), "emit-refused", {});
  await send(workspace, call as NoisyRequest);
  const untilMs = Date.now() + UNDELIVERED_WITHIN_MS;
  const count = async () => {
    const rpc = "outbound_webhook.v1.UndeliveredService/ListUndelivered";
    const { events = [] } = await own<{ events?: unknown[] }>(workspace, rpc, { endpointId: endpoint.id });
    return events.length;
  };
  while ((await count()) < UNDELIVERED) {
    if (Date.now() > untilMs) throw new Error("the events of the noisy workspace are not undelivered");
    await sleep(POLL_MS);
  }
  const body = JSON.stringify({ pageSize: 100 });
  const headers = {
    "content-type": "application/json",
    "x-service-signature": sign(secret, Math.floor(Date.now() / 1_000), body),
  };
  return [{ method: "POST", path: `/api/v1/webhooks/endpoints/${endpoint.id}/pull`, headers, body }];
}

async function prepareUploads({ installation }: NoisyWorkspace): Promise<NoisyRequest[]> {
  const token = await installation.signIn();
  const head = 'content-disposition: form-data; name="file"; filename="large.txt"';
  const body = `--${BOUNDARY}\r\n${head}\r\n\r\n${"x".repeat(FILE_BYTES)}\r\n--${BOUNDARY}--\r\n`;
  const headers = { authorization: `Bearer ${token}`, "content-type": `multipart/form-data; boundary=${BOUNDARY}` };
  return [{ method: "POST", path: "/chat/index", headers, body }];
}

/** Runs whose records are of the largest kind. */
async function prepareRuns(workspace: NoisyWorkspace): Promise<NoisyRequest[]> {
  const calls = await calling("log", { text: randomText(LOGGED_CHARACTERS) })(workspace);
  await pLimit(2).map(Array.from({ length: LISTED_RUNS }), async (_, index) => {
    await send(workspace, calls[index % calls.length] as NoisyRequest);
  });
  return listsOf(workspace, ["tool_runner.v1.ExecutionService/ListExecutions"]);
}

function prepareLists(rpcs: string[]) {
  return async (workspace: NoisyWorkspace) => {
    await saveLargeTools(workspace);
    return listsOf(workspace, rpcs);
  };
}

async function listsOf({ name, installation }: NoisyWorkspace, rpcs: string[]): Promise<NoisyRequest[]> {
  const token = await installation.signIn();
  return rpcs.map((rpc) => ({
    method: "POST",
    path: `/toolgate.${rpc}`,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ workspace: name, pageSize: 100 }),
  }));
}

async function prepareDescriptions(workspace: NoisyWorkspace): Promise<NoisyRequest[]> {
  const secrets = await makeKeys(workspace, await saveLargeTools(workspace));
  return secrets.map((secret) => ({
    method: "GET",
    path: "/api/v1/openapi.json",
    headers: { authorization: `Bearer ${secret}` },
  }));
}

async function prepareMcp(workspace: NoisyWorkspace): Promise<NoisyRequest[]> {
  const secrets = await makeKeys(workspace, await saveLargeTools(workspace));
  return mcpRequestsOf(secrets, "tools/list", {});
}

/** Returns their names. */
function saveLargeTools(workspace: NoisyWorkspace): Promise<string[]> {
  return pLimit(CONCURRENT_REQUESTS).map(Array.from({ length: LARGE_TOOLS }), async (_, index) => {
    const name = `described-${index}`;
    const definition = largeTool(index);
    await own(workspace, "tool_runner.v1.ToolService/SaveTool", { name, definition, confirmExposure: true });
    return name;
  });
}

function largeTool(index: number): object {
  const property = (at: number) => {
    const schema = { type: "string", description: randomText(200), enum: ["a", "b", `c${at}`] };
    return [`field_${at}`, schema];
  };
  return {
    description: randomText(1_000),
    external_api: true,
    parameters: {
      type: "object",
      properties: Object.fromEntries(Array.from({ length: PROPERTIES_PER_TOOL }, (_, at) => property(at))),
    },
    handler: `export default () => ({ success: true, index: ${index} });`,
  };
}

import pLimit from "p-limit";
import type { BenchInstallation } from "../installation/start-installation.ts";
import { DELIVERED_TOOLS, NOISY_TOOLS } from "./noisy-tools.ts";
import type { NoisyRequest } from "./orders.ts";

/** What a noisy workspace does, within every documented bound. */
export type Attack = {
  what: string;
  lanes: number;
  /** Makes the workspace's tools and the like, and returns the requests that its lanes make in turn. */
  prepare: (workspace: NoisyWorkspace) => Promise<NoisyRequest[]>;
};

export type NoisyWorkspace = {
  name: string;
  installation: BenchInstallation;
  receiverUrl: string;
};

export const KEYS = 24;
const CALLS_PER_MINUTE = 10_000;
export const CONCURRENT_REQUESTS = 4;

type CallOptions = { text?: string; idempotencyKey?: string; once?: boolean };

export type Endpoint = { endpoint: { id: string }; secret: string };

export const calling =
  (tool: string, options: CallOptions = {}) =>
  async (workspace: NoisyWorkspace) => {
    await saveTool(workspace, tool);
    return callsOf(await makeKeys(workspace, [tool]), tool, options);
  };

export function own<T>(
  { name, installation }: NoisyWorkspace,
  rpc: string,
  request: Record<string, unknown>,
): Promise<T> {
  return installation.manage<T>(rpc, { workspace: name, ...request });
}

/** Returns the endpoint of its events, if they have one. */
export async function saveTool(workspace: NoisyWorkspace, name: string): Promise<Endpoint | undefined> {
  const definition = {
    description: "Does its worst",
    external_api: true,
    external_api_write: true,
    parameters: { type: "object", properties: { text: { type: "string" } } },
    handler: NOISY_TOOLS[name],
  };
  await own(workspace, "tool_runner.v1.ToolService/SaveTool", { name, definition, confirmExposure: true });
  const path = DELIVERED_TOOLS[name];
  if (path === undefined) return undefined;
  return own<Endpoint>(workspace, "outbound_webhook.v1.EndpointService/CreateEndpoint", {
    url: `${workspace.receiverUrl}${path}`,
    events: ["custom.large"],
  });
}

export function makeKeys(workspace: NoisyWorkspace, tools: string[], limit = CALLS_PER_MINUTE): Promise<string[]> {
  return pLimit(CONCURRENT_REQUESTS).map(Array.from({ length: KEYS }), async (_, index) => {
    const key = { name: `Noisy ${index}`, tools, limit };
    return (await own<{ secret: string }>(workspace, "key_auth.v1.KeyService/CreateKey", key)).secret;
  });
}

export function callsOf(secrets: string[], tool: string, { text, idempotencyKey, once }: CallOptions): NoisyRequest[] {
  return secrets.map((secret) => ({
    method: "POST",
    path: `/api/v1/tools/${tool}`,
    headers: {
      authorization: `Bearer ${secret}`,
      "content-type": "application/json",
      ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
    },
    body: JSON.stringify({ args: text === undefined ? {} : { text } }),
    ...(once && { once }),
  }));
}

export function mcpRequestsOf(secrets: string[], method: string, params: object): NoisyRequest[] {
  return secrets.map((secret) => ({
    method: "POST",
    path: "/mcp",
    headers: {
      authorization: `Bearer ${secret}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-06-18",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  }));
}

/** A prepared query on the installation's own database. */
export async function saveQuery(workspace: NoisyWorkspace, name: string, sql: string): Promise<void> {
  const url = workspace.installation.servers.databaseUrl;
  await own(workspace, "tool_runner.v1.DataSourceService/SetDataSource", { url });
  const query = { name, mode: "QUERY_MODE_READ", sql };
  await own(workspace, "tool_runner.v1.DataSourceService/SavePreparedQuery", { query });
}

/** Text that does not shrink much when the database compresses it; the same in every run. */
export function randomText(characters: number): string {
  let state = 12_345;
  let text = "";
  while (text.length < characters) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    text += state.toString(36);
  }
  return text.slice(0, characters);
}

export async function send(
  { installation }: NoisyWorkspace,
  { method, path, headers, body }: NoisyRequest,
): Promise<void> {
  const url = `http://127.0.0.1:${installation.port}${path}`;
  const response = await fetch(url, { method, headers, body: body ?? null });
  if (!response.ok) throw new Error(`${path} responded with ${response.status}`);
  await response.arrayBuffer();
}

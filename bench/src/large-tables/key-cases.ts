import type { Management } from "@toolgate/local/demo/management";
import type { Pool } from "@toolgate/postgres/pool";
import pLimit from "p-limit";
import { KEYS, keyIdSql, TOOLS } from "./fill-usage-log.ts";
import type { RequestCase } from "./measure-requests.ts";

type Page = { keys?: unknown[]; nextPageToken?: string };

const SERVICE = "key_auth.v1.KeyService";
/** The number of pages before the deepest page. */
const DEEP_PAGES = 150;

/** The list of keys: first pages in each order and with each filter, and a page deep in the list. */
export async function keyListCases(manage: Management): Promise<RequestCase[]> {
  const list = (request: object) => manage<Page>(`${SERVICE}/ListKeys`, { ...request });
  let pageToken = "";
  for (let page = 0; page < DEEP_PAGES; page += 1) {
    pageToken = (await list({ pageToken })).nextPageToken ?? "";
  }
  const requests: [string, (n: number) => object][] = [
    ["newest first", () => ({})],
    ["100 to a page", () => ({ pageSize: 100 })],
    ["by name", () => ({ order: "KEY_ORDER_NAME" })],
    ["by last use", () => ({ order: "KEY_ORDER_LAST_USED" })],
    ["by calls in total", () => ({ order: "KEY_ORDER_CALLS_TOTAL" })],
    ["of a status", (n) => ({ status: `KEY_STATUS_${["ACTIVE", "REVOKED", "EXPIRED"][n % 3]}` })],
    ["with a tool", (n) => ({ tool: `tool_${n % 200}` })],
    ["part of a name", (n) => ({ search: `customer ${n}` })],
    ["part of a name that no key has", (n) => ({ search: `nobody ${n}` })],
    [`page ${DEEP_PAGES + 1}`, () => ({ pageToken })],
  ];
  return requests.map(([name, request]) => ({
    name: `keys, ${name}`,
    send: async (n) => (await list(request(n))).keys?.length ?? 0,
  }));
}

/** The usage of one key: its last calls, and its counts of a day and in total. */
export async function keyUsageCases(manage: Management, pool: Pool): Promise<RequestCase[]> {
  const { rows } = await pool.query(`select ${keyIdSql("n")} as id from generate_series(1, $1::int) n`, [KEYS.main]);
  const ids: string[] = rows.map((row) => row.id);
  const busy = KEYS.main - KEYS.quiet;
  const choices: [string, (n: number) => number][] = [
    ["the busiest key", () => 0],
    ["any of the busy keys", (n) => (n * 7919) % busy],
    ["keys with 12 calls 70 days ago", (n) => busy + (n % (KEYS.quiet - KEYS.unused))],
    ["keys without calls", (n) => KEYS.main - 1 - (n % KEYS.unused)],
  ];
  return choices.flatMap(([name, choose]) => [
    {
      name: `last 50 calls, ${name}`,
      send: async (n) => {
        const request = { keyId: ids[choose(n)] };
        return (await manage<{ calls?: unknown[] }>(`${SERVICE}/ListKeyCalls`, request)).calls?.length ?? 0;
      },
    },
    {
      name: `calls of 24 h and in total, ${name}`,
      send: async (n) => {
        const { key } = await manage<{ key?: object }>(`${SERVICE}/GetKey`, { keyId: ids[choose(n)] });
        return key ? 1 : 0;
      },
    },
  ]);
}

const CONCURRENT_REQUESTS = 8;
const HANDLER = "export default async (args) => ({ success: true, args });";

/** Tools with arguments of the usual size, released for keys. */
export async function saveTools(manage: Management): Promise<void> {
  const numbers = Array.from({ length: TOOLS }, (_, index) => index);
  await pLimit(CONCURRENT_REQUESTS).map(numbers, (number) => saveTool(manage, number, "first"));
}

/**
 * The OpenAPI document of a key that lists all tools: from the gateway's memory, and made again after a
 * tool was changed.
 */
export async function documentCases(manage: Management, baseUrl: string): Promise<RequestCase[]> {
  const tools = Array.from({ length: TOOLS }, (_, index) => `tool_${index}`);
  const { secret } = await manage<{ secret: string }>("key_auth.v1.KeyService/CreateKey", { name: "All tools", tools });
  const send = async () => {
    const response = await fetch(`${baseUrl}/api/v1/openapi.json`, { headers: { authorization: `Bearer ${secret}` } });
    const { paths } = (await response.json()) as { paths?: object };
    return Object.keys(paths ?? {}).length;
  };
  return [
    { name: "again", send },
    { name: "first after a tool was changed", before: (n) => saveTool(manage, n % TOOLS, `change ${n}`), send },
  ];
}

async function saveTool(manage: Management, number: number, change: string): Promise<void> {
  const parameters = {
    type: "object",
    properties: {
      customer: { type: "string", maxLength: 100, description: "Number or name of the customer." },
      from: { type: "string", format: "date" },
      lines: {
        type: "array",
        maxItems: 50,
        items: {
          type: "object",
          properties: { article: { type: "string" }, count: { type: "integer", minimum: 1 } },
          required: ["article"],
        },
      },
      mode: { enum: ["draft", "final"] },
    },
    required: ["customer"],
  };
  const description = `Tool number ${number} of the benchmark, ${change}.`;
  const definition = { description, external_api: true, parameters, handler: HANDLER };
  await manage("tool_runner.v1.ToolService/SaveTool", { name: `tool_${number}`, definition, confirmExposure: true });
}

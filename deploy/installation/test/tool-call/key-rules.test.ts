import { eventually } from "@toolgate/testbed/eventually";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunningToolgate } from "../running-toolgate.ts";
import { ECHO, runWithEcho } from "./echo.ts";

let toolgate: RunningToolgate;
let secret: string;
beforeAll(async () => {
  toolgate = await runWithEcho("single", { alone: true });
  ({ secret } = await toolgate.createKey({ name: "k", tools: ["echo"], limit: 10_000 }));
});
afterAll(() => toolgate[Symbol.asyncDispose]());

const post = (path: string, headers: Record<string, string>) =>
  toolgate.request(path, { method: "POST", headers, body: '{"args":{"text":"x"}}' });

test("[TOOL-7] [TOOL-8] the key is read from the Authorization header alone, for calls and for the description", async () => {
  const bearer = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
  expect((await post("/api/v1/tools/echo", bearer)).body).toMatchObject({ success: true, args: { text: "x" } });
  expect((await toolgate.request("/api/v1/openapi.json", { headers: bearer })).status).toBe(200);
  const elsewhere: Record<string, string>[] = [
    { "x-api-key": secret },
    { cookie: `api_key=${secret}` },
    { authorization: secret },
  ];
  for (const headers of elsewhere) {
    expect((await post(`/api/v1/tools/echo?api_key=${secret}`, headers)).status).toBe(401);
    expect((await toolgate.request(`/api/v1/openapi.json?key=${secret}`, { headers })).status).toBe(401);
  }
});

test("[TOOL-38] [TOOL-45] a browser of another origin gets no CORS header, and the description says that keys belong on servers", async () => {
  const headers = { authorization: `Bearer ${secret}`, origin: "https://shop.example" };
  const description = await toolgate.request("/api/v1/openapi.json", { headers });
  for (const response of [await post("/api/v1/tools/echo", headers), description]) {
    expect(response.status).toBe(200);
    expect([...response.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  }
  expect(description.body.info).toMatchObject({ description: expect.stringContaining("Keep keys on servers") });
});

test("[ERR-13] [ERR-14] [TOOL-38] [TOOL-39] other methods get 405 and Allow, and no CORS header, also on a preflight", async () => {
  const cors = { origin: "https://a.example", "access-control-request-method": "POST" };
  for (const [path, allow] of [
    ["/api/v1/tools/echo", "POST"],
    ["/mcp", "POST"],
    ["/api/v1/openapi.json", "GET"],
    ["/api/v1/openapi.d.ts", "GET"],
  ] as const) {
    for (const method of ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"].filter((one) => one !== allow)) {
      const response = await toolgate.request(path, { method, headers: cors });
      expect([path, method, response.status]).toEqual([path, method, 405]);
      expect(response.headers.get("allow")).toBe(allow);
      expect([...response.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
    const [method] = ["GET", "POST"].filter((one) => one !== allow) as [string];
    const known = await toolgate.request(path, { method, headers: { authorization: `Bearer ${secret}` } });
    expect(known.text).toBe('{"success":false,"error":"Methode nicht erlaubt"}');
    if (path !== "/mcp") expect(known.headers.get("x-ratelimit-limit")).toBe("10000");
  }
});

test("[LIMIT-13] a call is logged and counted for its key, and counted nowhere else", async () => {
  const key = await toolgate.createKey({ name: "counted", tools: ["echo"] });
  const counted = async (calls: number) => {
    await toolgate.call("echo", key.secret, { text: "x" });
    await eventually(async () => {
      const { rows } = await toolgate.pool.query("select calls_total from key_auth.keys where id = $1", [key.id]);
      const logged = await toolgate.pool.query("select 1 from tool_runner.executions where caller_id = $1", [key.id]);
      return Number(rows[0].calls_total) === calls && logged.rowCount === calls;
    });
  };
  await counted(1);
  // The setup's records are still on their way to the audit log.
  await eventually(async () => {
    const { rows } = await toolgate.pool.query(
      `select (select count(*) from tool_runner.audit_outbox) = 0 and (select count(*) from tool_runner.tools) =
         (select count(*) from key_auth.audit_entries where action = 'tool.expose') as arrived`,
    );
    return rows[0].arrived;
  });
  const before = await storedState();
  await counted(2);
  const after = await storedState();
  const changed = [...after.keys()].filter((name) => after.get(name) !== before.get(name));
  const counters = changed.filter((name) => !name.startsWith("redis "));
  expect(counters.toSorted()).toEqual([
    "key_auth.api_key_request_counts",
    "key_auth.api_key_requests",
    "key_auth.keys",
    "tool_runner.executions",
  ]);
  for (const name of changed.filter((one) => one.startsWith("redis "))) {
    expect(name).toMatch(new RegExp(`^redis toolgate:(calls:${key.id}:\\d+|accepted:${key.id})$`));
  }
});

/** The content of every table and every Redis key, in a form that can be compared. */
async function storedState(): Promise<Map<string, string>> {
  const state = new Map<string, string>();
  const { rows } = await toolgate.pool.query<{ name: string }>(
    `select relnamespace::regnamespace || '.' || relname as name from pg_class
     where relkind in ('r', 'p') and not relispartition
       and relnamespace::regnamespace::text not in ('pg_catalog', 'information_schema')`,
  );
  for (const { name } of rows) {
    const content = await toolgate.pool.query(
      `select md5(string_agg(t::text, ' ' order by t::text)) as hash from ${name} t`,
    );
    state.set(name, content.rows[0].hash ?? "");
  }
  const redis = new Redis(toolgate.redis.url);
  try {
    for (const key of await redis.keys("*")) state.set(`redis ${key}`, (await redis.dump(key)) ?? "");
  } finally {
    redis.disconnect();
  }
  return state;
}

test("[LOG-13] [LOG-14] a call reports no event of its own; a flagged tool's carries the entry type of the log", async () => {
  await toolgate.createEndpoint(["tool.completed", "custom.*"]);
  await toolgate.saveTool("flagged", { ...ECHO, webhook_event: true });
  const key = await toolgate.createKey({ name: "f", tools: ["echo", "flagged"] });
  const before = toolgate.receiver.requests.length;
  await toolgate.call("echo", key.secret, { text: "silent" });
  await toolgate.call("nowhere", key.secret);
  await toolgate.call("flagged", key.secret, { text: "told" });
  const requests = (await toolgate.receiver.waitFor(before + 1)).slice(before);
  const [event] = requests.map(({ body }) => JSON.parse(body.toString()));
  expect(event.data).toMatchObject({ tool: "flagged", entry_type: "api_key" });
  const logged = await eventually(async () => {
    const found = await toolgate.pool.query("select entry_type from tool_runner.executions where id = $1", [
      event.data.execution_id,
    ]);
    return found.rows[0] ?? false;
  });
  expect(logged.entry_type).toBe(event.data.entry_type);
  const { rows } = await toolgate.pool.query("select count(*)::int as events from outbound_webhook.event");
  expect(rows[0].events).toBe(1);
});

test("[TOOL-21] removing the release closes the tool for the next call, setting it again opens it", async () => {
  await toolgate.saveTool("toggled", ECHO);
  const { secret } = await toolgate.createKey({ name: "k", tools: ["toggled"] });
  for (let round = 0; round < 2; round += 1) {
    expect((await toolgate.call("toggled", secret, { text: "x" })).status).toBe(200);
    await toolgate.saveTool("toggled", { ...ECHO, external_api: false });
    expect((await toolgate.call("toggled", secret, { text: "x" })).status).toBe(403);
    await toolgate.saveTool("toggled", ECHO);
  }
});

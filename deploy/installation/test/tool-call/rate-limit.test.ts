import { earlyInMinute } from "@toolgate/testbed/early-in-minute";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CallResponse, RunningToolgate } from "../running-toolgate.ts";
import { runWithEcho } from "./echo.ts";

/** What the limit's headers say, the mandated ones and those of the IETF draft. */
function limitOf({ headers }: CallResponse) {
  const [, policyLimit, window] = /^"minute";q=(\d+);w=(\d+)$/.exec(headers.get("ratelimit-policy") ?? "") ?? [];
  const [, left, seconds] = /^"minute";r=(\d+);t=(\d+)$/.exec(headers.get("ratelimit") ?? "") ?? [];
  return {
    limit: headers.get("x-ratelimit-limit"),
    remaining: headers.get("x-ratelimit-remaining"),
    reset: Number(headers.get("x-ratelimit-reset")),
    retryAfter: headers.get("retry-after"),
    ietf: { limit: policyLimit, window, remaining: left, seconds: Number(seconds) },
  };
}

let toolgate: RunningToolgate;
beforeAll(async () => {
  toolgate = await runWithEcho("single");
  await toolgate.saveTool("broken", { external_api: true, handler: "export default () => { throw 1; };" });
});
afterAll(() => toolgate[Symbol.asyncDispose]());

/** Makes a call while its service cannot read one of its tables. */
async function whileHidden<T>(schema: string, table: string, call: () => Promise<T>): Promise<T> {
  await toolgate.pool.query(`alter table ${schema}.${table} rename to hidden`);
  try {
    return await call();
  } finally {
    await toolgate.pool.query(`alter table ${schema}.hidden rename to ${table}`);
  }
}

describe("every kind of response to a valid key", () => {
  let responses: [status: number, remaining: string, response: CallResponse][];
  let minuteEnds: number;
  beforeAll(async () => {
    await toolgate.saveTool("asks", { external_api: true, query: "q" });
    const { secret } = await toolgate.createKey({ name: "k", tools: ["echo", "broken", "asks"], limit: 5 });
    const headers = { authorization: `Bearer ${secret}` };
    await earlyInMinute();
    minuteEnds = (Math.floor(Date.now() / 60_000) + 1) * 60;
    responses = [
      [200, "4", await toolgate.call("echo", secret, { text: "x" })],
      [400, "3", await toolgate.call("echo", secret, {})],
      [500, "2", await whileHidden("tool_runner", "prepared_queries", () => toolgate.call("asks", secret))],
      [400, "1", await toolgate.call("broken", secret)],
      [403, "0", await toolgate.call("nowhere", secret)],
      [429, "0", await toolgate.call("echo", secret, { text: "x" })],
      [405, "0", await toolgate.request("/api/v1/tools/echo", { headers })],
      [200, "0", await toolgate.request("/api/v1/openapi.json", { headers })],
    ];
    expect(responses.map(([, , { status }]) => status)).toEqual(responses.map(([status]) => status));
  });

  test("[LIMIT-3] [LIMIT-4] [LIMIT-5] has the limit and the calls that are left, in both forms", () => {
    for (const [, remaining, response] of responses) {
      const ietf = { limit: "5", window: "60", remaining };
      expect(limitOf(response)).toMatchObject({ limit: "5", remaining, ietf });
    }
  });

  test("[LIMIT-6] has the end of the minute, in both forms", () => {
    for (const [, , response] of responses) {
      const { reset, ietf } = limitOf(response);
      expect(reset).toBe(minuteEnds);
      expect(ietf.seconds).toBeGreaterThanOrEqual(1);
      expect(ietf.seconds).toBeLessThanOrEqual(60);
    }
  });

  test("[LIMIT-7] [LIMIT-8] [LIMIT-9] has Retry-After with 429 alone: the seconds until the next minute", () => {
    for (const [status, , response] of responses) {
      const { retryAfter, ietf } = limitOf(response);
      expect(retryAfter).toBe(status === 429 ? String(ietf.seconds) : null);
    }
  });
});

test("[LIMIT-7] [LIMIT-8] [ERR-15] [ERR-16] Retry-After is what is left of the minute, in the header and in the body", async () => {
  const { secret } = await toolgate.createKey({ name: "k", tools: ["echo"], limit: 1 });
  // A second or more into a minute, so that the rest of it is shorter than a minute.
  await earlyInMinute(1_001);
  await toolgate.call("echo", secret, { text: "x" });
  const before = Math.floor(Date.now() / 1000);
  const response = await toolgate.call("echo", secret, { text: "x" });
  const after = Math.floor(Date.now() / 1000);
  const { reset, retryAfter } = limitOf(response);
  expect(Number(retryAfter)).toBeGreaterThanOrEqual(reset - after);
  expect(Number(retryAfter)).toBeLessThanOrEqual(reset - before);
  expect(reset).toBe((Math.floor(before / 60) + 1) * 60);
  expect(response.text).toBe(`{"success":false,"error":"Aufruflimit erreicht","retry_after":${retryAfter}}`);
});

test("[LIMIT-11] refused calls take nothing from a limit that is raised within the minute", async () => {
  const { id, secret } = await toolgate.createKey({ name: "k", tools: ["echo"], limit: 1 });
  await earlyInMinute();
  const statuses = async (count: number) => {
    const responses = [];
    for (let call = 0; call < count; call += 1) responses.push(await toolgate.call("echo", secret, { text: "x" }));
    return responses.map(({ status }) => status);
  };
  expect(await statuses(5)).toEqual([200, 429, 429, 429, 429]);
  await toolgate.manage("key_auth.v1.KeyService/UpdateKey", { keyId: id, limit: 3 });
  expect(await statuses(3)).toEqual([200, 200, 429]);
});

test("[ERR-17] [ERR-18] when the key itself cannot be looked up, the 500 says neither limit nor cause", async () => {
  const { secret } = await toolgate.createKey({ name: "k", tools: ["echo"] });
  const response = await whileHidden("key_auth", "keys", () => toolgate.call("echo", secret, { text: "x" }));
  expect(response).toMatchObject({ status: 500, text: '{"success":false,"error":"Interner Fehler"}' });
  expect([...response.headers.keys()].filter((name) => /ratelimit|retry|authenticate/.test(name))).toEqual([]);
  expect((await toolgate.call("echo", secret, { text: "x" })).status).toBe(200);
});

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CallResponse, type RunningToolgate, runToolgate } from "./running-toolgate.ts";

const LAST = "9999-12-31T23:59:59.999Z";

let toolgate: RunningToolgate;
let session: string;
beforeAll(async () => {
  toolgate = await runToolgate("single");
  const { email, password } = toolgate.account;
  const { body } = await post("key_auth.v1.SessionService/Login", { email, password });
  session = String(body.token);
});
afterAll(() => toolgate[Symbol.asyncDispose]());

function post(rpc: string, request: object): Promise<CallResponse> {
  return toolgate.request(`/toolgate.${rpc}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(session && { authorization: `Bearer ${session}` }) },
    body: JSON.stringify(request),
  });
}

const keys = (rpc: string, request: object) =>
  post(`key_auth.v1.KeyService/${rpc}`, { workspace: toolgate.account.workspace, ...request });

/** The expiry of a key as every RPC that returns it says. */
async function expiries(keyId: string): Promise<unknown[]> {
  const shown = [];
  for (const [rpc, request] of [
    ["GetKey", { keyId }],
    ["UpdateKey", { keyId, name: "renamed" }],
    ["RotateKey", { keyId }],
  ] as const) {
    const { status, body } = await keys(rpc, request);
    expect([rpc, status]).toEqual([rpc, 200]);
    if (rpc === "RotateKey") expect(body.secret).toMatch(/^svc_live_/);
    shown.push((body.key as { expiresAt?: string }).expiresAt);
  }
  const listed = await keys("ListKeys", {});
  expect(listed.status).toBe(200);
  const found = (listed.body.keys as { id: string; expiresAt?: string }[]).find(({ id }) => id === keyId);
  return [...shown, found?.expiresAt];
}

describe("[KEY-6] whatever expiry a key may have, it can be shown, edited, rotated and listed", () => {
  test.each<[expiry: object, shown: string]>([
    [{ date: "9999-12-31" }, LAST],
    [{ date: "9999-12-30" }, "9999-12-31T00:00:00Z"],
    [{ date: "1970-01-01" }, "1970-01-02T00:00:00Z"],
    [{ date: "2028-02-29" }, "2028-03-01T00:00:00Z"],
    [{ timestamp: "9999-12-31T23:59:59.9999995Z" }, LAST],
    [{ timestamp: "9999-12-31T23:59:59.999999999Z" }, LAST],
    [{ timestamp: "1970-01-01T00:00:00Z" }, "1970-01-01T00:00:00Z"],
    [{ timestamp: "2028-02-29T00:00:00.123456789+14:00" }, "2028-02-28T10:00:00.123Z"],
  ])("%j", async (expiry, shown) => {
    const { id } = await toolgate.createKey({ name: "k" });
    const updated = await keys("UpdateKey", { keyId: id, expiry });
    expect(updated).toMatchObject({ status: 200, body: { key: { expiresAt: shown } } });
    expect(await expiries(id)).toEqual([shown, shown, shown, shown]);
    expect(await keys("CreateKey", { name: "k", expiry })).toMatchObject({ status: 200 });
  });
});

describe("[KEY-6] [MGMT] an expiry that is no time, or could not be shown again, is refused and changes nothing", () => {
  test.each<object>([
    { date: "0000-01-01" },
    { date: "1969-12-31" },
    { date: "2027-02-30" },
    { date: "+10000-01-01" },
    { timestamp: "2027-02-30T00:00:00Z" },
    { timestamp: "0001-01-01T00:00:00Z" },
    { timestamp: "9999-12-31T23:59:59-01:00" },
  ])("%j", async (expiry) => {
    const { id } = await toolgate.createKey({ name: "k" });
    const refused = await keys("UpdateKey", { keyId: id, expiry });
    expect(refused).toMatchObject({ status: 400, body: { code: "invalid_argument" } });
    expect(refused.text).toMatch(/date|time/i);
    expect(await expiries(id)).toEqual([undefined, undefined, undefined, undefined]);
  });
});

test("[KEY-6] a key that an earlier version stored with an expiry beyond 9999 breaks neither its page nor its rotation", async () => {
  const { id } = await toolgate.createKey({ name: "k" });
  await toolgate.pool.query("update key_auth.keys set expires_at = '10000-01-01' where id = $1", [id]);
  expect(await expiries(id)).toEqual([LAST, LAST, LAST, LAST]);
});

import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, expect, test } from "vitest";
import { earlyInMinute } from "../running-toolgate.ts";
import { ECHO, type FrontDoor, openFrontDoor } from "./front-door.ts";
import { headerValues, openRaw, type RawResponse, requestBytes, sendRaw } from "./raw-http.ts";

let door: FrontDoor;
beforeAll(async () => {
  door = await openFrontDoor();
  // Long enough for its caller to disconnect before it ends.
  const busy = "const end = Date.now() + 300; while (Date.now() < end); return { success: true };";
  await door.toolgate.saveTool("busy", { external_api: true, handler: `export default async () => { ${busy} };` });
});
afterAll(() => door[Symbol.asyncDispose]());

const limitLeft = async (secret: string) => {
  const headers = [["authorization", `Bearer ${secret}`] as const];
  const response = await sendRaw(door.toolgate.baseUrl, { method: "GET", target: ECHO, headers });
  return Number(headerValues(response as RawResponse, "x-ratelimit-remaining")[0]);
};

test.each<[name: string, length: string | undefined, body: string]>([
  ["in mid-body", "100", '{"args":'],
  ["in mid-chunk", undefined, "ff\r\n{"],
])("[LOG-2] clients that hang up %s are in the log, once", async (_, length, body) => {
  const { id, secret } = await door.toolgate.createKey({ name: "k", tools: ["echo"], limit: 9_000 });
  using connection = openRaw(door.toolgate.baseUrl);
  const framing = length ? (["content-length", length] as const) : (["transfer-encoding", "chunked"] as const);
  const headers = [["authorization", `Bearer ${secret}`] as const, framing];
  await earlyInMinute();
  await connection.write(requestBytes({ target: ECHO, headers, body, withoutLength: true }));
  await eventually(async () => (await limitLeft(secret)) < 9_000);
  connection.cut();
  expect(await door.logged(id, 1)).toEqual({ 400: 1 });
  await door.expectUndisturbed();
});

test("[LOG-2] [LOG-10] clients that hang up during the run are in both logs: the run continues", async () => {
  const { id, secret } = await door.toolgate.createKey({ name: "k", tools: ["busy"], limit: 9_000 });
  using connection = openRaw(door.toolgate.baseUrl);
  const headers = [["authorization", `Bearer ${secret}`] as const];
  await earlyInMinute();
  await connection.write(requestBytes({ target: "/api/v1/tools/busy", headers, body: "{}" }));
  await eventually(async () => (await limitLeft(secret)) < 9_000);
  connection.cut();
  expect(await door.logged(id, 1)).toEqual({ 200: 1 });
  await eventually(async () => {
    const sql = "select success from tool_runner.executions where caller_id = $1";
    expect((await door.toolgate.pool.query(sql, [id])).rows).toEqual([{ success: true }]);
  });
});

test("a body that ends too early for its length is refused, and in the log", async () => {
  const { id, secret } = await door.toolgate.createKey({ name: "k", tools: ["echo"] });
  using connection = openRaw(door.toolgate.baseUrl);
  const headers = [["authorization", `Bearer ${secret}`] as const, ["content-length", "100"] as const];
  await connection.write(requestBytes({ target: ECHO, headers, body: "{}" }));
  connection.end();
  expect(await connection.nextResponse()).toMatchObject({ status: 400 });
  await connection.closed;
  expect(await door.logged(id, 1)).toEqual({ 400: 1 });
});

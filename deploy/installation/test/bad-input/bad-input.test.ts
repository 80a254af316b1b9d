import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ECHO, expectInvalid, type FrontDoor, openFrontDoor } from "./front-door.ts";
import { openRaw, type RawResponse, requestBytes, sendRaw } from "./raw-http.ts";

const MIB = 1024 * 1024;

/** The memory of all buffers after a garbage collection. */
function heldBytes(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return process.memoryUsage().arrayBuffers;
}

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

let door: FrontDoor;
beforeAll(async () => {
  door = await openFrontDoor();
});
afterAll(() => door[Symbol.asyncDispose]());

describe("bodies", () => {
  test.each<[name: string, body: string | Uint8Array, rule: string]>([
    ["not JSON", "{args}", "json"],
    ["a trailing NUL byte", "{}\u0000", "json"],
    ["NaN", '{"args":{"any":NaN}}', "json"],
    ["a list", "[]", "type"],
    ["args null", '{"args":null}', "type"],
    ["invalid UTF-8", Buffer.from('{"args":{"text":"\xff\xfe"}}', "latin1"), "encoding"],
    ["UTF-16", Buffer.from('{"args":{}}', "utf16le"), "json"],
    ["a byte order mark", '\ufeff{"args":{}}', "encoding"],
    ["gzip", gzipSync('{"args":{}}'), "encoding"],
    ["100,000 nested lists, none closed", "[".repeat(100_000), "json"],
    ["100,000 nested objects", `{"args":{"any":${nested(100_000)}}}`, "depth"],
    ["an integer that would be rounded", '{"args":{"any":[1234567890123456789]}}', "number"],
    ["a number beyond all bounds", '{"args":{"any":{"a":-1e400}}}', "number"],
  ])("[ERR-1] [ERR-2] [TOOL] a malformed body gets 400 with one violation: %s", async (_, body, rule) => {
    expectInvalid(await door.post({ body }), rule);
  });

  const UNUSUAL: [name: string, body: string, args: Record<string, unknown>][] = [
    ["no bytes", "", {}],
    ["no args", "{}", {}],
    ["members next to args, at any depth", `{"x":${nested(100_000)},"args":{"text":"y"}}`, { text: "y" }],
    ["duplicate names: the last one counts", '{"args":{"text":"a"},"args":{"text":"b","text":"c"}}', { text: "c" }],
    [
      "large numbers that are kept",
      '{"args":{"any":[1e200,-0,123456789012345680000]}}',
      { any: [1e200, 0, 123456789012345680000] },
    ],
    [
      "NUL and half surrogate pairs in text",
      '{"args":{"text":"\\u0000\\ud800","any":{"\\udfff":1}}}',
      { text: "\u0000\ud800", any: { "\udfff": 1 } },
    ],
    ["a template marker", '{"args":{"text":"{{7*7}}"}}', { text: "{{7*7}}" }],
  ];
  test("[TOOL] [LOG-2] an unusual body is accepted, and its call is in both logs", async () => {
    const check = async ([name, body, args]: (typeof UNUSUAL)[number]) => {
      const response = await door.post({ body });
      const { _api_key, ...seen } = JSON.parse(response.text).args;
      expect([name, response.status, seen]).toEqual([name, 200, args]);
      await door.expectInBothLogs(response);
    };
    await Promise.all(UNUSUAL.map(check));
  });

  test("[LOG-2] a call whose tool logs and throws NUL and half surrogate pairs is in both logs", async () => {
    const handler = String.raw`export default (args, ctx) => {
    ctx.log("\u0000\ud800", { "\u0000\udfff": "\u0000\ud800" });
    console.log("\u0000\ud800");
    throw new Error("\u0000\ud800");
  };`;
    await door.toolgate.saveTool("throws", { external_api: true, parameters: { type: "object" }, handler });
    const { secret } = await door.toolgate.createKey({ name: "k", tools: ["throws"], limit: 10 });
    const headers = [["authorization", `Bearer ${secret}`] as const];
    const response = await sendRaw(door.toolgate.baseUrl, { target: "/api/v1/tools/throws", headers, body: "{}" });
    expect(response?.status).toBe(400);
    await door.expectInBothLogs(response as RawResponse);
  });

  test("[TOOL-24] [TOOL] __proto__ reaches no tool at any depth, and no prototype changes", async () => {
    const evil =
      '"__proto__":{"polluted":1},"\\u005f_proto__":{"polluted":2},"constructor":{"prototype":{"polluted":3}}';
    const body = `{${evil},"args":{${evil},"text":"x","any":{${evil},"list":[{${evil}}]}}}`;
    const { args, polluted } = JSON.parse((await door.post({ body })).text);
    expect(polluted).toBe(false);
    expect(Object.keys(args).sort()).toEqual(["_api_key", "any", "text"]);
    expect(JSON.stringify(args)).not.toContain("__proto__");
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    await door.expectUndisturbed();
  });

  test("[TOOL] whatever the content type is, the body is JSON", async () => {
    for (const type of [
      "",
      "json",
      ";;;",
      "*",
      "text/plain",
      "application/json; charset=utf-16",
      "multipart/form-data",
    ]) {
      const headers = [["content-type", type] as const];
      expect((await door.post({ headers, body: '{"args":{"text":"x"}}' })).status).toBe(200);
      expectInvalid(await door.post({ headers, body: "text=x" }), "json");
    }
  });

  test("[TOOL] a missing content type, several of them, and a content encoding are ignored", async () => {
    const body = '{"args":{"text":"x"}}';
    const several = [["content-type", "text/plain"] as const, ["content-type", "application/json"] as const];
    for (const headers of [[], several, [["content-encoding", "gzip"] as const]]) {
      expect((await door.post({ headers, body })).status).toBe(200);
    }
  });

  test("[TOOL] 1 MiB is read, one byte more is an invalid parameter, with and without a content length", async () => {
    const exact = Buffer.alloc(MIB, " ");
    exact.write('{"args":{"text":"x"}}');
    const chunked = (body: Buffer) => ({
      headers: [["transfer-encoding", "chunked"] as const],
      withoutLength: true,
      body: Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from("\r\n0\r\n\r\n")]),
    });
    const over = Buffer.concat([exact, Buffer.from(" ")]);
    expect((await door.post({ body: exact })).status).toBe(200);
    expect((await door.post(chunked(exact))).status).toBe(200);
    expectInvalid(await door.post({ body: over }), "body");
    expectInvalid(await door.post(chunked(over)), "body");
  });

  // In the single topology the gateway's memory is this process's.
  test("[TOOL] a body that is too large gets its response before it is sent, and the rest of it is discarded", async () => {
    using connection = openRaw(door.toolgate.baseUrl);
    const declared = 40 * MIB;
    const headers = [door.bearer, ["content-length", String(declared)] as const];
    await connection.write(requestBytes({ target: ECHO, headers }));
    const response = await connection.nextResponse();
    expect(response?.status).toBe(400);
    const before = heldBytes();
    const piece = Buffer.alloc(MIB, 32);
    for (let sent = MIB; sent < declared; sent += MIB) await connection.write(piece);
    await eventually(() => expect(heldBytes() - before).toBeLessThan(declared / 4));
    const next = requestBytes({ target: ECHO, headers: [door.bearer], body: '{"args":{"text":"next"}}' });
    await connection.write(Buffer.concat([piece, next]));
    expect(await connection.nextResponse()).toMatchObject({ status: 200 });
  });
});

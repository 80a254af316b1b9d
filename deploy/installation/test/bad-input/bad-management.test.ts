import { gzipSync } from "node:zlib";
import { Access } from "@toolgate/gen/toolgate/options/v1/access_pb";
import { accessOf, callableFromOutside, rpcName } from "@toolgate/service-host/access";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EVERY_RPC } from "../every-rpc.ts";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";
import { type RawResponse, sendRaw } from "./raw-http.ts";

const LIST_KEYS = "key_auth.v1.KeyService/ListKeys";
const LOGIN = "key_auth.v1.SessionService/Login";
const JSON_TYPE = ["content-type", "application/json"] as const;
/** For these no principal is checked: each checks the token in its own message, or needs none (Login, GetKeySet). */
const PUBLIC_RPCS = [
  "toolgate.key_auth.v1.MemberService/AcceptInvitation",
  "toolgate.key_auth.v1.MemberService/GetInvitation",
  "toolgate.key_auth.v1.MemberService/ResetPassword",
  "toolgate.key_auth.v1.SessionService/ChangePassword",
  "toolgate.key_auth.v1.SessionService/EndOtherSessions",
  "toolgate.key_auth.v1.SessionService/EndSession",
  "toolgate.key_auth.v1.SessionService/GetKeySet",
  "toolgate.key_auth.v1.SessionService/GetSession",
  "toolgate.key_auth.v1.SessionService/ListSessions",
  "toolgate.key_auth.v1.SessionService/Login",
  "toolgate.key_auth.v1.SessionService/Logout",
];
/** What a response that leaks internals would show: files, lines, addresses, SQL, libraries. */
const INTERNALS = /\.ts|\.js|node_modules|127\.0\.0\.1|postgres|select |stack|ECONN|Error:/i;

let toolgate: RunningToolgate;
let session: readonly [string, string];
beforeAll(async () => {
  toolgate = await runToolgate("single");
  const { email, password } = toolgate.account;
  const { text } = await call(LOGIN, JSON.stringify({ email, password }), []);
  session = ["authorization", `Bearer ${JSON.parse(text).token}`];
});
afterAll(() => toolgate[Symbol.asyncDispose]());

async function call(
  path: string,
  body: string | Uint8Array,
  headers: readonly (readonly [string, string])[] = [session],
): Promise<RawResponse> {
  const types = headers.some(([name]) => name === "content-type") ? [] : [JSON_TYPE];
  const target = `/toolgate.${path}`;
  const response = await sendRaw(toolgate.baseUrl, { target, headers: [...types, ...headers], body });
  if (!response) throw new Error("the connection was closed without a response");
  expect(response.text).not.toMatch(INTERNALS);
  return response;
}

const named = (members: Record<string, unknown>) =>
  JSON.stringify({ workspace: toolgate.account.workspace, ...members });
const codeOf = ({ text }: RawResponse) => JSON.parse(text).code;

describe("messages", () => {
  test.each<[name: string, body: string | Uint8Array]>([
    ["nothing", ""],
    ["not JSON", "{"],
    ["a list", "[]"],
    ["null", "null"],
    ["a wrong type", '{"workspace":5}'],
    ["half a surrogate pair", '{"workspace":"\\ud800"}'],
    ["a NUL", '{"workspace":"a\\u0000"}'],
    ["no workspace", "{}"],
    ["an empty workspace", '{"workspace":""}'],
    ["an open nest", `{"workspace":${"[".repeat(100_000)}`],
    ["a deep nest", `{"workspace":${"[".repeat(100_000)}${"]".repeat(100_000)}}`],
  ])("%s: 400 and invalid_argument", async (_, body) => {
    const response = await call(LIST_KEYS, body);
    expect([response.status, codeOf(response)]).toEqual([400, "invalid_argument"]);
  });

  test("a NUL in any text is refused before anything is called or stored", async () => {
    const nul = "a\u0000";
    const cases: [path: string, members: Record<string, unknown>][] = [
      ["key_auth.v1.KeyService/CreateKey", { name: nul }],
      ["tool_runner.v1.ToolService/SaveTool", { name: "a", definition: { [nul]: { deep: [1] } } }],
      ["inbound_hook.v1.HookService/CreateHook", { name: "h", arguments: { mapping: { pointers: { [nul]: "" } } } }],
      ["outbound_webhook.v1.EndpointService/CreateEndpoint", { url: `https://a.example/${nul}`, events: ["test"] }],
      ["chat.v1.AssistantService/SaveAssistant", { name: "a", definition: { instructions: nul } }],
      [LOGIN, { workspace: undefined, email: nul, password: "p" }],
    ];
    for (const [path, members] of cases) {
      expect([path, codeOf(await call(path, named(members)))]).toEqual([path, "invalid_argument"]);
    }
  });

  test.each<[path: string, members: string, named: string]>([
    ["key_auth.v1.KeyService/CreateKey", '"name":"k","allowed_network":["10.0.0.0/8"]', "allowed_network"],
    ["outbound_webhook.v1.DeliveryService/ListDeliveries", '"statuses":["FAILED"]', "FAILED"],
    ["chat.v1.AssistantService/SaveAssistant", '"name":"a","definition":{"inbound_hooks":true}', "inbound_hooks"],
    [LIST_KEYS, '"__proto__":{"polluted":1}', "__proto__"],
    [LIST_KEYS, '"":1', ""],
  ])("an unknown field or value in %s is refused and named: {%s}", async (path, members, unknown) => {
    const response = await call(path, named({}).replace("{", `{${members},`));
    expect([response.status, codeOf(response)]).toEqual([400, "invalid_argument"]);
    expect(JSON.parse(response.text).message).toContain(`"${unknown}"`);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test("a message that is too large is refused, also when it is too large only once decompressed", async () => {
    expect(codeOf(await call(LIST_KEYS, Buffer.alloc(3_000_000, " ")))).toBe("resource_exhausted");
    const bomb = gzipSync(Buffer.alloc(50_000_000, " "));
    expect(codeOf(await call(LIST_KEYS, bomb, [session, ["content-encoding", "gzip"]]))).toBe("resource_exhausted");
    expect(codeOf(await call(LIST_KEYS, "no gzip", [session, ["content-encoding", "gzip"]]))).toBe("invalid_argument");
  });

  /** A definition with everything that docs/tools.md limits by number at its limit, in one request of many values. */
  const largest = () => {
    const names = Array.from({ length: 999 }, (_, index) => `parameter_${index}`);
    const text = "x".repeat(10_000);
    const values = Array.from({ length: 40 }, (_, index) => `value ${index}`);
    const many = Array.from({ length: 500 }, (_, index) => `value ${index}`);
    const source = "export default () => ({ success: true });";
    return {
      description: text,
      external_api_description: text,
      handler: source + " ".repeat(256 * 1024 - source.length),
      parameters: {
        type: "object",
        required: names,
        properties: Object.fromEntries(
          names.map((name, index) => [name, { type: "string", enum: index === 0 ? many : values }]),
        ),
      },
    };
  };

  test("the largest definition is saved", async () => {
    const save = (name: string, definition: object) =>
      call("tool_runner.v1.ToolService/SaveTool", named({ name, definition }));
    const show = (name: string) => call("tool_runner.v1.ToolService/GetTool", named({ name }));
    const definition = largest();
    expect((await save("largest", definition)).status).toBe(200);
    expect(JSON.parse((await show("largest")).text).tool.definition).toEqual(definition);
  });

  test("a dry run takes 1 MiB of arguments", async () => {
    await toolgate.saveTool("length", {
      parameters: { type: "object", properties: { text: { type: "string" }, rows: { type: "array" } } },
      handler: "export default ({ text, rows }) => ({ text: text.length, rows: rows.length });",
    });
    const rows = Array.from({ length: 4_000 }, (_, id) => ({ id, name: `name ${id}`, price: 9.9, stock: null }));
    const around = JSON.stringify({ rows, text: "" }).length;
    const args = { rows, text: "x".repeat(1024 * 1024 - around) };
    const { status, text } = await call("tool_runner.v1.ToolService/DryRun", named({ tool: "length", args }));
    expect(status).toBe(200);
    const result = { text: args.text.length, rows: 4_000 };
    expect(JSON.parse(JSON.parse(text).resultJson)).toMatchObject(result);
  });

  test.each([
    "",
    ";",
    "text/plain",
    "application/proto",
    "application/grpc",
    "application/grpc-web+proto",
    "application/connect+json",
    "application/jsonp",
  ])("the content type '%s' is refused", async (type) => {
    for (const body of ["{}", "\u00ff\u00ff"]) {
      const response = await call(LIST_KEYS, body, [session, ["content-type", type]]);
      expect([400, 415]).toContain(response.status);
      expect(codeOf(response)).toBe("invalid_argument");
    }
  });

  test("other methods are refused", async () => {
    for (const method of ["GET", "PUT", "DELETE", "OPTIONS"]) {
      const target = `/toolgate.${LIST_KEYS}?connect=v1&encoding=json&message=%7B%7D`;
      const response = await sendRaw(toolgate.baseUrl, { method, target, headers: [session] });
      expect(response?.status).toBe(405);
      expect(response?.text).toContain("POST is the only method");
      expect(response?.headers.filter(([name]) => /^access-control/i.test(name))).toEqual([]);
    }
  });
});

describe("access", () => {
  test("[MGMT-4] [WMGMT-4] everything but a valid session gets the same 401", async () => {
    const bearers = ["", "Bearer", "Bearer x", `Basic ${session[1]}`, `${session[1]}x`, `Bearer ${"x".repeat(9_000)}`];
    const responses = [await call(LIST_KEYS, named({}), [])];
    for (const bearer of bearers) responses.push(await call(LIST_KEYS, named({}), [["authorization", bearer]]));
    responses.push(await call(LIST_KEYS, named({}), [session, session]));
    for (const { status, text } of responses)
      expect({ status, text }).toEqual({ status: 401, text: responses[0]?.text });
  });

  test("a forged principal and a forged service token change nothing", async () => {
    const principal = {
      userId: "1",
      email: "a@b",
      workspaceId: "1",
      workspace: toolgate.account.workspace,
      role: "admin",
    };
    const forged = [
      ["toolgate-principal", Buffer.from(JSON.stringify(principal)).toString("base64url")],
      ["toolgate-service-token", "guess"],
    ] as const;
    expect((await call(LIST_KEYS, named({}), forged)).status).toBe(401);
    expect((await call(LIST_KEYS, '{"workspace":"no"}', [session, ...forged])).status).toBe(404);
    expect((await call(LIST_KEYS, named({}), [session, ...forged])).status).toBe(200);
  });

  test("no internal RPC is reachable, not even with a session and forged headers", async () => {
    const internal = EVERY_RPC.filter(
      ([, { parent, name }]) => !callableFromOutside(parent).some((one) => one.name === name),
    );
    expect(internal.length).toBeGreaterThan(20);
    // One that is declared public by mistake is not among them, so the public ones are named here too.
    const open = EVERY_RPC.filter(([, method]) => accessOf(method) === Access.PUBLIC);
    expect(open.map(([, method]) => rpcName(method)).toSorted()).toEqual(PUBLIC_RPCS);
    for (const [, method] of internal) {
      const path = rpcName(method).replace("toolgate.", "");
      const response = await call(path, "{}", [session, ["toolgate-service-token", "guess"]]);
      expect([404, 501], path).toContain(response.status);
    }
  });
});

const SHOP = { name: "Shop", format: "HOOK_FORMAT_SHOP", target: { tool: "any" } };
const MODEL = { name: "m", provider: "MODEL_PROVIDER_ANTHROPIC", baseUrl: "https://127.0.0.1", model: "m" };
const PASTED = '"a-secret-of-theirs"';

/** Every field for a secret that somebody else has made. */
test.each([
  ["provider_secret", "inbound_hook.v1.HookService/CreateHook", { ...SHOP, providerSecret: PASTED }],
  ["value", "tool_runner.v1.DataSourceService/SaveSecret", { name: "S", value: PASTED, hosts: ["a.example"] }],
  ["api_key", "chat.v1.ModelService/SaveModel", { ...MODEL, apiKey: PASTED }],
  [
    "headers: x-api-key",
    "outbound_webhook.v1.EndpointService/CreateEndpoint",
    { url: "https://a.example", events: ["custom.*"], headers: { values: { "X-Api-Key": PASTED } } },
  ],
])("[MGMT] a secret in %s that was pasted wrongly is refused with the reason", async (field, rpc, request) => {
  await expect(toolgate.manage(rpc, request)).rejects.toThrow(`${field}: is in quotes: leave them out`);
});

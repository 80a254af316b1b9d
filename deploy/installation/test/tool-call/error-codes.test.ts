import { readFile } from "node:fs/promises";
import { ERROR_CODES } from "@toolgate/gateway/domain/error-codes";
import { earlyInMinute } from "@toolgate/testbed/early-in-minute";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunningToolgate } from "../running-toolgate.ts";
import { runWithEcho } from "./echo.ts";

let toolgate: RunningToolgate;
let bearer: string;
let session: string;

beforeAll(async () => {
  toolgate = await runWithEcho("single");
  await toolgate.saveTool("broken", { external_api: true, handler: "export default () => { throw new Error('x'); };" });
  const { secret } = await toolgate.createKey({ name: "k", tools: ["echo", "broken"], limit: 1_000 });
  bearer = `Bearer ${secret}`;
  const { email, password } = toolgate.account;
  const { body } = await rpc("key_auth.v1.SessionService/Login", { email, password });
  session = `Bearer ${body.token}`;
});
afterAll(() => toolgate[Symbol.asyncDispose]());

const json = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: typeof body === "string" ? body : JSON.stringify(body),
});
const rpc = (name: string, body: unknown, headers: Record<string, string> = {}) =>
  toolgate.request(`/toolgate.${name}`, json(body, headers));
const byKey = (body: unknown) => json(body, { authorization: bearer });
const bySession = (body: unknown) => json(body, { authorization: session });
const mcp = (method: string, params: object) => byKey({ jsonrpc: "2.0", id: 1, method, params });

const TOOLS = "/api/v1/tools";
const MANAGED = "/toolgate.tool_runner.v1.ToolService";
const missing = () => bySession({ workspace: toolgate.account.workspace, name: "missing" });

/** A request that ends with an error: where it goes, what it sends, and the status, the code and the text of its end. */
const ERRORS: [name: string, path: string, request: () => RequestInit, status: number, code: string, text: string][] = [
  ["no key", `${TOOLS}/echo`, () => json({}), 401, "UNAUTHENTICATED", "Ungueltiger oder fehlender API-Key"],
  ["another tool", `${TOOLS}/other`, () => byKey({}), 403, "TOOL_UNAVAILABLE", "Tool nicht verfuegbar"],
  ["wrong arguments", `${TOOLS}/echo`, () => byKey({}), 400, "INVALID_PARAMETERS", "Ungueltige Parameter"],
  ["a tool that throws", `${TOOLS}/broken`, () => byKey({}), 400, "TOOL_FAILED", "Tool konnte nicht ausgefuehrt"],
  ["a wrong path", "/api/v1/nowhere", () => ({}), 404, "NOT_FOUND", "Nicht gefunden"],
  ["a path below a tool", `${TOOLS}/echo/`, () => byKey({}), 404, "NOT_FOUND", "Nicht gefunden"],
  ["a wrong method", `${TOOLS}/echo`, () => ({}), 405, "METHOD_NOT_ALLOWED", "Methode nicht erlaubt"],
  ["a hook that is none", "/api/v1/hooks/hk_none", () => json({}), 404, "NOT_FOUND", "Nicht gefunden"],
  ["no login to a chat", "/chat/index", () => json({}), 401, "UNAUTHENTICATED", "sign in first"],
  ["no session", "/session", () => ({}), 401, "LOGIN_REQUIRED", "Anmeldung erforderlich"],
  ["/mcp without a message", "/mcp", () => byKey("{"), 400, "PARSE_ERROR", "Parse error"],
  ["a list of RPCs to /mcp", "/mcp", () => byKey("[]"), 400, "INVALID_REQUEST", "One message"],
  ["management without a login", `${MANAGED}/ListTools`, () => json({}), 401, "UNAUTHENTICATED", "login required"],
  ["an unknown field", `${MANAGED}/ListTools`, () => bySession({ nothing: 1 }), 400, "INVALID_ARGUMENT", ""],
  [
    "another type",
    `${MANAGED}/ListTools`,
    () => ({ method: "POST", body: "x" }),
    415,
    "UNSUPPORTED_MEDIA_TYPE",
    "json",
  ],
  ["a missing tool", `${MANAGED}/GetTool`, missing, 404, "NOT_FOUND", "no such tool"],
];

test.each(ERRORS)(
  "[ERR] %s has its code, and details of the problem for those who accept them",
  async (_, path, request, status, code, text) => {
    const init = request();
    const plain = await toolgate.request(path, init);
    expect([plain.status, plain.headers.get("x-error-code")]).toEqual([status, code]);
    expect(plain.headers.get("content-type")).toMatch(/^application\/json/);
    expect(plain.text).toContain(text);
    expect(Object.keys(ERROR_CODES)).toContain(code);
    const accept = "application/json, application/problem+json;q=0.9";
    const problem = await toolgate.request(path, { ...init, headers: { ...(init.headers as object), accept } });
    expect(problem.headers.get("content-type")).toBe("application/problem+json");
    expect(problem.headers.get("x-error-code")).toBe(code);
    const details = JSON.parse(problem.text);
    expect(details).toMatchObject({ type: "about:blank", title: expect.any(String), status, code });
    expect(details.detail).toContain(text);
    expect(plain.body.details === undefined || Array.isArray(details.details)).toBe(true);
    // The specified body of the next request is not affected.
    expect((await toolgate.request(path, request())).text).toBe(plain.text);
  },
);

test("[ERR-15] [LIMIT-8] a problem keeps retry_after and the limit's headers; a client that refuses problems gets none", async () => {
  const { secret } = await toolgate.createKey({ name: "k", tools: ["echo"], limit: 1 });
  const call = (accept: string) =>
    toolgate.request(
      "/api/v1/tools/echo",
      json({ args: { text: "x" } }, { authorization: `Bearer ${secret}`, accept }),
    );
  await earlyInMinute();
  expect((await call("application/problem+json")).headers.get("content-type")).toBe("application/json; charset=utf-8");
  const limited = await call("application/problem+json");
  expect(JSON.parse(limited.text)).toMatchObject({
    status: 429,
    code: "RATE_LIMITED",
    retry_after: expect.any(Number),
  });
  expect(limited.headers.get("retry-after")).not.toBeNull();
  expect(limited.headers.get("x-ratelimit-remaining")).toBe("0");
  for (const accept of ["*/*", "application/problem+json;q=0", "application/problem+jsonx"]) {
    const plain = await call(accept);
    expect(plain.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(plain.headers.get("x-error-code")).toBe("RATE_LIMITED");
  }
});

test("[ERR] over MCP a refused or failed call and an error of the protocol have a code, a result and a list have none", async () => {
  const codeOf = async (method: string, params: object) =>
    (await toolgate.request("/mcp", mcp(method, params))).headers.get("x-error-code");
  expect(await codeOf("tools/call", { name: "echo", arguments: { text: "x" } })).toBeNull();
  expect(await codeOf("tools/list", {})).toBeNull();
  expect(await codeOf("tools/call", { name: "echo", arguments: {} })).toBe("INVALID_PARAMETERS");
  expect(await codeOf("tools/call", { name: "broken", arguments: {} })).toBe("TOOL_FAILED");
  expect(await codeOf("tools/call", { name: "other", arguments: {} })).toBe("TOOL_UNAVAILABLE");
  expect(await codeOf("nothing/here", {})).toBe("METHOD_NOT_FOUND");
});

test("[ERR] the list in docs/callers.md has the codes and statuses of the code", async () => {
  const docs = await readFile(new URL("../../../../docs/callers.md", import.meta.url), "utf8");
  const [, table = ""] = docs.split("| `X-Error-Code` | status | meaning |\n|---|---|---|\n");
  const rows = table
    .split("\n\n", 1)[0]
    ?.split("\n")
    .map((row) => row.split(" | ").slice(0, 2).join(" | "));
  const listed = Object.entries(ERROR_CODES).filter(([, [, meaning]]) => !meaning.startsWith("management:"));
  expect(rows).toEqual(listed.map(([code, [statuses]]) => `| \`${code}\` | ${statuses}`));
});

import { once } from "node:events";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";
import { Role, SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listen, testServer } from "./test-server.ts";

const SAVE_TOOL = "/toolgate.tool_runner.v1.ToolService/SaveTool";
const LOGIN = "/toolgate.key_auth.v1.SessionService/Login";
const MIB = 1024 * 1024;
const BEARER = { authorization: "Bearer known" };

let resources: AsyncDisposableStack;
beforeEach(() => {
  resources = new AsyncDisposableStack();
});
afterEach(() => resources.disposeAsync());

/** A gateway that knows one login, and records which RPCs it calls. */
async function gateway() {
  const called: string[] = [];
  const mustBeKnown = ({ token }: { token: string }) => {
    if (token !== "known") throw new ConnectError("login required", Code.Unauthenticated);
  };
  const keyAuth = createRouterTransport((router) => {
    router.rpc(SessionService.method.getSession, (request) => {
      called.push("GetSession");
      mustBeKnown(request);
      return {};
    });
    router.rpc(SessionService.method.authorize, (request) => {
      called.push("Authorize");
      mustBeKnown(request);
      return { workspaceId: request.workspace, role: Role.ADMIN, principal: "signed" };
    });
    router.rpc(SessionService.method.login, () => {
      called.push("Login");
      return {};
    });
  });
  const toolRunner = createRouterTransport((router) => {
    router.rpc(ToolService.method.saveTool, (_request, { requestHeader }) => {
      called.push(`SaveTool as ${requestHeader.get("toolgate-principal")}`);
      return {};
    });
    router.rpc(ToolService.method.listTools, () => ({ nextPageToken: "x".repeat(MIB) }));
  });
  const app = await testServer({ transports: { "key-auth": keyAuth, "tool-runner": toolRunner } });
  resources.defer(() => app.close());
  const port = await listen(app);
  const send = (path: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = BEARER) => {
    const init = { method: "POST", headers: { "content-type": "application/json", ...headers }, body };
    return fetch(`http://127.0.0.1:${port}${path}`, init);
  };
  const post = async (
    path: string,
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = BEARER,
  ) => {
    const response = await send(path, body, headers);
    return { status: response.status, errorCode: response.headers.get("x-error-code"), body: await response.json() };
  };
  /** Sends the head of a request with a part of its body, and returns the response that comes before the rest. */
  const begin = async (path: string, head: string) => {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    resources.defer(() => void socket.destroy());
    await once(socket, "connect");
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${head}\r\n\r\n10\r\n{"workspace":"w"`,
    );
    let response = "";
    socket.on("data", (data) => (response += data.toString()));
    await eventually(() => expect(response).toContain("}"));
    return response;
  };
  return { begin, called, post, send };
}

test.each([
  ["in chunks", "transfer-encoding: chunked"],
  ["that is small while it is compressed", "content-encoding: gzip\r\ncontent-length: 2000"],
])("[WMGMT-4] a large request %s is refused before its body has come", async (_name, head) => {
  const { begin, called } = await gateway();
  const response = await begin(SAVE_TOOL, `authorization: Bearer x\r\n${head}`);
  expect(response).toMatch(/^HTTP\/1.1 401 /);
  expect(response).toMatch(/^x-error-code: UNAUTHENTICATED\r$/m);
  expect(response).toContain('"message":"login required"');
  expect(called).toEqual(["GetSession"]);
});

test("[WMGMT-4] what a stranger sends to log in has at most 16 KiB, and more is not read", async () => {
  const { begin, called, post } = await gateway();
  const response = await begin(LOGIN, `content-length: ${16 * 1024 + 1}`);
  expect(response).toMatch(/^HTTP\/1.1 429 /);
  expect(response).toContain('"code":"resource_exhausted","message":"the request is larger than 16384 bytes"');
  const bomb = gzipSync(Buffer.alloc(10 * MIB, " "));
  expect(await post(LOGIN, bomb, { "content-encoding": "gzip" })).toMatchObject({ errorCode: "RESOURCE_EXHAUSTED" });
  expect(called).toEqual([]);
  expect((await post(LOGIN, `{"email":"a","password":"b"}${" ".repeat(16_000)}`, {})).status).toBe(200);
  expect(called).toEqual(["Login"]);
});

test("[WMGMT] a request with more than 50,000 JSON values is refused, also when it is small while compressed", async () => {
  const { called, post } = await gateway();
  const headers = { ...BEARER, "content-encoding": "gzip" };
  // Besides these: the request itself, the workspace, the definition and the list.
  const send = (values: number) =>
    post(SAVE_TOOL, gzipSync(`{"workspace":"w","definition":{"a":[${"0,".repeat(values - 1)}0]}}`), headers);
  expect((await send(49_996)).status).toBe(200);
  expect(called.splice(0)).toEqual(["GetSession", "Authorize", "SaveTool as signed"]);
  expect(await send(49_997)).toEqual({
    status: 400,
    errorCode: "INVALID_ARGUMENT",
    body: { code: "invalid_argument", message: "the request has more than 50000 JSON values" },
  });
  expect(called).toEqual(["GetSession"]);
});

test("a large response is compressed for a client that accepts it, a small one never", async () => {
  const { send } = await gateway();
  const page = (path: string, accepted: string) =>
    send(path, '{"workspace":"w"}', { ...BEARER, "accept-encoding": accepted });
  const listTools = "/toolgate.tool_runner.v1.ToolService/ListTools";
  const compressed = await page(listTools, "br, gzip");
  expect(compressed.headers.get("content-encoding")).toBe("gzip");
  expect(Number(compressed.headers.get("content-length"))).toBeLessThan(MIB / 100);
  const plain = await page(listTools, "identity");
  expect(plain.headers.get("content-encoding")).toBeNull();
  expect(Number(plain.headers.get("content-length"))).toBeGreaterThan(MIB);
  expect(await compressed.json()).toEqual(await plain.json());
  const small = await page(SAVE_TOOL, "gzip");
  expect(small.headers.get("content-encoding")).toBeNull();
  await small.arrayBuffer();
});

test("a login is checked once, and once more before a large body is read", async () => {
  const { called, post } = await gateway();
  await post(SAVE_TOOL, '{"workspace":"w"}');
  expect(called.splice(0)).toEqual(["Authorize", "SaveTool as signed"]);
  await post(SAVE_TOOL, `{"workspace":"w"}${" ".repeat(16 * 1024)}`);
  expect(called).toEqual(["GetSession", "Authorize", "SaveTool as signed"]);
});

test("[WMGMT] a repeated member is refused, so that no request names two workspaces", async () => {
  const { called, post } = await gateway();
  expect(await post(SAVE_TOOL, '{"workspace":"w","workspace":"x"}')).toMatchObject({ status: 400 });
  expect(called).toEqual(["Authorize"]);
});

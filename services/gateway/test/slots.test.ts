import { connect } from "node:net";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";
import { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { ReceiveResponseSchema } from "@toolgate/gen/toolgate/inbound_hook/v1/receive_pb";
import { KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { Role, SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { VerifyResponseSchema } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { type RunResponse, RunResponseSchema } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { generateSecret, hashSecret } from "@toolgate/rules/api-key-secret";
import { createSlots } from "@toolgate/slots/slots";
import { eventually } from "@toolgate/testbed/eventually";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createGatewaySlots, type GatewaySlots } from "../src/http/slots.ts";
import { listen, testServer } from "./test-server.ts";

const secretOf = new Map(["noisy", "quiet"].map((workspace) => [workspace, generateSecret()]));
const LIST_KEYS = "/toolgate.key_auth.v1.KeyService/ListKeys";

let resources: AsyncDisposableStack;
beforeEach(() => {
  resources = new AsyncDisposableStack();
});
afterEach(() => resources.disposeAsync());

/** A gateway whose tools, lists of keys, uploads and hook calls end when the test lets them. */
async function gateway(slots: Partial<GatewaySlots>) {
  const works: { of: string; end: () => void }[] = [];
  const work = async (of: string) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    works.push({ of, end: resolve });
    await promise;
  };
  const logged: number[] = [];
  const keyAuth = createRouterTransport((router) => {
    router.rpc(SessionService.method.getSession, ({ token }) => ({ userId: token }));
    router.rpc(SessionService.method.authorize, ({ workspace }) => {
      if (workspace === "") throw new ConnectError("no such workspace", Code.NotFound);
      return { userId: "u", workspaceId: workspace, workspace, role: Role.ADMIN };
    });
    router.rpc(KeyService.method.listKeys, async ({ workspace }) => {
      await work(workspace);
      return {};
    });
  });
  const chat = createRouterTransport((router) => {
    router.rpc(ChatService.method.uploadFile, async (parts) => {
      for await (const { part } of parts) if (part.case === "header") await work(part.value.userId);
      return { fileId: "f" };
    });
  });
  const app = await testServer({
    calls: {
      verify: async ({ secretHash }) => {
        const [workspaceId = ""] = [...secretOf].find(([, known]) => hashSecret(known).equals(secretHash)) ?? [];
        const key = { keyId: "k", workspaceId, admitted: true, limit: 10, tools: ["slow"] };
        return create(VerifyResponseSchema, { key });
      },
      async run({ workspaceId }): Promise<RunResponse> {
        await work(workspaceId);
        return create(RunResponseSchema, { outcome: { case: "resultJson", value: Buffer.from("{}") } });
      },
      usage: { add: async ({ status }) => void logged.push(status), async [Symbol.asyncDispose]() {} },
      slots: { ...createGatewaySlots(), ...slots },
    },
    async receiveHook({ clientIp }) {
      await work(clientIp);
      return create(ReceiveResponseSchema, { outcome: { case: "acceptedDeliveryId", value: "1" } });
    },
    transports: { "key-auth": keyAuth, chat },
    trustedProxies: ["127.0.0.1"],
  });
  resources.defer(async () => {
    for (const { end } of works) end();
    app.server.closeAllConnections();
    await app.close();
  });
  let open = 0;
  app.server.prependListener("request", (_request, response) => {
    open += 1;
    response.once("close", () => (open -= 1));
  });
  const port = await listen(app);
  const post = (path: string, init: RequestInit) =>
    fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", ...init });
  const withKey = (workspace: string) => ({ authorization: `Bearer ${secretOf.get(workspace)}` });
  const json = { "content-type": "application/json" };
  return {
    works,
    logged,
    port,
    open: () => open,
    request: post,
    call: (workspace: string, signal?: AbortSignal) =>
      post("/api/v1/tools/slow", { headers: withKey(workspace), body: "{}", ...(signal && { signal }) }),
    mcp: (workspace: string, method: string, params: object) =>
      post("/mcp", {
        headers: { ...withKey(workspace), ...json },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      }),
    describe: (workspace: string) =>
      fetch(`http://127.0.0.1:${port}/api/v1/openapi.json`, { headers: withKey(workspace) }),
    list: (workspace: string, init: RequestInit = {}) =>
      post(LIST_KEYS, {
        ...init,
        headers: { authorization: "Bearer a.b.c", ...json, ...init.headers },
        body: JSON.stringify({ workspace }),
      }),
    upload(user: string) {
      const form = new FormData();
      form.append("file", new Blob(["x"]), "a.txt");
      return post("/chat/index", { headers: { authorization: `Bearer ${user}` }, body: form });
    },
    hook: (clientIp: string) => post("/api/v1/hooks/hk_a", { headers: { "x-forwarded-for": clientIp }, body: "{}" }),
  };
}

/** Two slots, of which a workspace gets one, and nobody may wait. */
const two = () => createSlots(2, { maxWaiting: 0 });

test("[ERR-16] [LIMIT-8] [LOG-2] a call without a slot gets a 429 that is logged; other workspaces are served meanwhile", async () => {
  const { call, mcp, works, logged } = await gateway({ calls: two() });
  const first = call("noisy");
  await eventually(() => expect(works.length).toBe(1));
  const refused = await call("noisy");
  expect([refused.status, refused.headers.get("retry-after"), refused.headers.get("x-error-code")]).toEqual([
    429,
    "5",
    "SERVER_BUSY",
  ]);
  expect(await refused.json()).toEqual({ success: false, error: "Server ausgelastet", retry_after: 5 });
  expect(refused.headers.get("x-ratelimit-limit")).toBe("10");
  expect(logged).toEqual([429]);
  expect((await mcp("noisy", "tools/call", { name: "slow", arguments: {} })).status).toBe(429);
  const quiet = call("quiet");
  await eventually(() => expect(works.length).toBe(2));
  for (const { end } of works) end();
  for (const response of await Promise.all([first, quiet])) expect(response.status).toBe(200);
});

test("a call waits for a slot, leaves the line when its client disconnects, and keeps a slot until its work has ended", async () => {
  const { call, open, works } = await gateway({ calls: createSlots(2, { maxWaiting: 1 }) });
  const clients = new AbortController();
  const gone = [call("noisy", clients.signal).catch(() => {}), call("noisy", clients.signal).catch(() => {})];
  await eventually(() => expect(open()).toBe(2));
  clients.abort();
  await Promise.all(gone);
  await eventually(() => expect(open()).toBe(0));
  const next = call("noisy");
  await eventually(() => expect(open()).toBe(1));
  expect((await call("noisy")).status).toBe(429);
  expect(works.length).toBe(1);
  works[0]?.end();
  await eventually(() => expect(works.length).toBe(2));
  works[1]?.end();
  expect((await next).status).toBe(200);
});

test("[LIMIT-8] documents, management requests and uploads without a slot get a 429, and other workspaces do not", async () => {
  const { describe, mcp, list, upload, works } = await gateway({
    management: two(),
    uploads: two(),
    descriptions: createSlots(0, { maxWaiting: 0 }),
  });
  for (const refused of [await describe("noisy"), await mcp("noisy", "tools/list", {})]) {
    expect([refused.status, refused.headers.get("x-error-code")]).toEqual([429, "SERVER_BUSY"]);
  }
  for (const send of [list, upload]) {
    const first = send("noisy");
    await eventually(() => expect(works.length).toBe(1));
    const refused = await send("noisy");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "5"]);
    const quiet = send("quiet");
    await eventually(() => expect(works.length).toBe(2));
    for (const { end } of works.splice(0)) end();
    await Promise.all([first, quiet]);
  }
});

test("[IN] hook calls of a network without a slot get a 503, and those of other networks do not", async () => {
  const { hook, works } = await gateway({ hookCalls: two() });
  const first = hook("192.0.2.1");
  await eventually(() => expect(works.length).toBe(1));
  const refused = await hook("192.0.2.1");
  expect([refused.status, refused.headers.get("retry-after"), refused.headers.get("connection")]).toEqual([
    503,
    "1",
    "close",
  ]);
  const quiet = hook("192.0.2.2");
  await eventually(() => expect(works.length).toBe(2));
  for (const { end } of works) end();
  for (const response of await Promise.all([first, quiet])) expect(response.status).toBe(202);
});

test("a management request keeps its slot until the service has finished, even when its client has disconnected", async () => {
  const { list, open, works } = await gateway({ management: createSlots(2) });
  const client = new AbortController();
  const gone = list("noisy", { signal: client.signal }).catch(() => {});
  await eventually(() => expect(works.length).toBe(1));
  client.abort();
  await gone;
  await eventually(() => expect(open()).toBe(0));
  const next = list("noisy", { headers: { "connect-timeout-ms": "60000" } });
  await eventually(() => expect(open()).toBe(1));
  const quiet = list("quiet");
  await eventually(() => expect(works.map(({ of }) => of)).toEqual(["noisy", "quiet"]));
  for (const { end } of works) end();
  await quiet;
  await eventually(() => expect(works.length).toBe(3));
  works[2]?.end();
  expect((await next).status).toBe(200);
});

test("requests that came on one connection are handled one after another, and too many close it", async () => {
  const { port, works, open } = await gateway({});
  const body = JSON.stringify({ workspace: "noisy" });
  const head = `Host: a\r\nAuthorization: Bearer a.b.c\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  const one = `POST ${LIST_KEYS} HTTP/1.1\r\n${head}\r\n\r\n${body}`;
  const connection = () => {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    resources.defer(() => void socket.destroy());
    return socket.resume();
  };
  const socket = connection();
  socket.write(one.repeat(3));
  await eventually(() => expect([works.length, open()]).toEqual([1, 3]));
  works[0]?.end();
  await eventually(() => expect([works.length, open()]).toEqual([2, 2]));
  const flooding = connection();
  flooding.write(one.repeat(1_000));
  await eventually(() => expect(flooding.destroyed).toBe(true));
});

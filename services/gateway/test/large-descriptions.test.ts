import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";
import { generateSecret } from "@toolgate/api-key/secret";
import { KeyVerdictSchema } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { ToolDescriptionSchema, ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { testClock } from "@toolgate/testbed/test-clock";
import { BY_NUMBER } from "@toolgate/workspace-share/turn";
import { createWorkspaceShares } from "@toolgate/workspace-share/workspace-shares";
import { expect, test } from "vitest";
import { createWorkspaceTurns, type WorkspaceTurns } from "../src/http/workspace-turns.ts";
import { testServer } from "./test-server.ts";

const MIB = 1024 * 1024;
const FREE = 1024 ** 3;
/** To the last, a test sends a request to which the SDK responds. */
const PATHS = ["/api/v1/openapi.json", "/api/v1/openapi.d.ts", "/mcp", "/mcp?through=sdk"];

/** A gateway with keys whose one tool has a description of `characters`. Each key has a workspace and a tool of its own name. */
async function gateway(changes: Partial<WorkspaceTurns> = {}) {
  const state = { characters: 0, epoch: 7n, tooLarge: false, fetched: [] as string[], response: Promise.resolve() };
  const keys = new Map<string, { workspaceId: string; tool: string }>();
  const toolRunner = createRouterTransport((router) => {
    router.rpc(ToolService.method.describeTools, async ({ workspaceId, names: [name = ""] }) => {
      state.fetched.push(workspaceId);
      await state.response;
      if (state.tooLarge) throw new ConnectError("too large", Code.FailedPrecondition);
      return { tools: [create(ToolDescriptionSchema, { name, description: "x".repeat(state.characters) })] };
    });
  });
  const app = await testServer({
    calls: {
      turns: { ...createWorkspaceTurns(FREE), ...changes },
      verifyKey: async (secret) => {
        const { workspaceId, tool } = keys.get(secret) ?? { workspaceId: "", tool: "" };
        return create(KeyVerdictSchema, { keyId: "k", workspaceId, workspaceEpoch: state.epoch, tools: [tool] });
      },
    },
    transports: { "tool-runner": toolRunner },
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = app.server.address() as AddressInfo;
  const key = (workspaceId: string, tool = "echo") => {
    const secret = generateSecret();
    keys.set(secret, { workspaceId, tool });
    const authorization = `Bearer ${secret}`;
    return {
      authorization,
      async get(path = "/api/v1/openapi.json", more: Record<string, string> = {}) {
        const params = path.endsWith("sdk") ? { _meta: { progressToken: 1 } } : {};
        const list = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params });
        const response = await fetch(`http://127.0.0.1:${port}${path}`, {
          ...(path.startsWith("/mcp") && { method: "POST", body: list }),
          headers: { authorization, "content-type": "application/json", ...more },
        });
        return { status: response.status, headers: response.headers, text: await response.text() };
      },
    };
  };
  return { state, key, port, [Symbol.asyncDispose]: () => app.close() };
}

test("[OAPI] tools that are too large to be described get an error of their own, and are read once until something changes", async () => {
  await using running = await gateway();
  const { state, key } = running;
  state.tooLarge = true;
  const { get } = key("acme");
  for (const path of [...PATHS, ...PATHS]) {
    const { status, headers, text } = await get(path);
    expect([status, headers.get("x-error-code")], path).toEqual([500, "DESCRIPTION_TOO_LARGE"]);
    expect(text).toBe('{"success":false,"error":"Beschreibung zu gross"}');
  }
  // Both lists of MCP are the same.
  expect(state.fetched.length).toBe(PATHS.length - 1);
  Object.assign(state, { tooLarge: false, epoch: 8n });
  for (const path of PATHS) expect((await get(path)).status).toBe(200);
});

test("[OAPI] a document of more than 6 MiB is not sent, and one of 5 MiB is", async () => {
  await using running = await gateway();
  const { state, key } = running;
  const { get } = key("acme");
  for (const [characters, epoch, status] of [
    [5 * MIB, 7n, 200],
    [7 * MIB, 8n, 500],
  ] as const) {
    Object.assign(state, { characters, epoch });
    for (const path of PATHS) expect((await get(path)).status, path).toBe(status);
  }
});

test("[OAPI] two documents of a workspace are made at the same time, further ones in turn, and others meanwhile", async () => {
  await using running = await gateway();
  const { state, key } = running;
  const { promise, resolve } = Promise.withResolvers<void>();
  state.response = promise;
  const noisy = ["a", "b", "c", "d"].map((tool) => key("noisy", tool).get());
  await eventually(() => expect(state.fetched).toEqual(["noisy", "noisy"]));
  const quiet = key("quiet").get();
  await eventually(() => expect(state.fetched).toEqual(["noisy", "noisy", "quiet"]));
  resolve();
  for (const { status } of await Promise.all([...noisy, quiet])) expect(status).toBe(200);
  expect(state.fetched.length).toBe(5);
});

test("[LIMIT-8] a workspace that has made large documents waits before it makes another, and then gets a 429; others do not", async () => {
  const clock = testClock();
  const { describing } = createWorkspaceTurns(1, clock);
  await using running = await gateway({ describing });
  const { state, key } = running;
  state.characters = MIB;
  expect((await key("noisy", "a").get()).status).toBe(200);
  let status = 0;
  const waiting = key("noisy", "b")
    .get()
    .then((response) => {
      status = response.status;
    });
  expect((await key("quiet").get()).status).toBe(200);
  // Time passes until the request has been waiting for 20 s.
  await eventually(async () => {
    await clock.pass(20_000);
    expect(status).toBe(429);
  });
  await waiting;
  expect(state.fetched).toEqual(["noisy", "quiet"]);
});

test("[OAPI] only so many large documents of a workspace are on their way; small ones, unchanged ones and others are sent meanwhile", async () => {
  const largeDescriptions = createWorkspaceShares({ ...BY_NUMBER, maxRunning: 2, maxWaiting: 0, maxWaitMs: 20_000 });
  await using running = await gateway({ largeDescriptions });
  const { state, key, port } = running;
  state.characters = 5.5 * MIB;
  const { get, authorization } = key("noisy");
  const { headers } = await get();
  // They read the beginning of their responses, which are larger than what the system keeps for them.
  const slow = await Promise.all(
    [1, 2].map(async () => {
      const socket = connect(port, "127.0.0.1");
      socket.write(`GET /api/v1/openapi.json HTTP/1.1\r\nHost: gateway\r\nAuthorization: ${authorization}\r\n\r\n`);
      await once(socket, "readable");
      return socket;
    }),
  );
  for (const path of PATHS) expect((await get(path)).status, path).toBe(429);
  expect((await key("quiet").get()).status).toBe(200);
  const tag = headers.get("etag") ?? "";
  expect((await get("/api/v1/openapi.json", { "if-none-match": tag })).status).toBe(304);
  state.characters = 0;
  expect((await key("noisy", "small").get()).status).toBe(200);
  for (const socket of slow) socket.destroy();
  for (const path of PATHS) await eventually(async () => expect((await get(path)).status).toBe(200));
});

import type { AddressInfo } from "node:net";
import { setImmediate as eventLoopTurn } from "node:timers/promises";
import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";
import { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { createLogger } from "@toolgate/service-host/logger";
import { refusals } from "@toolgate/telemetry/instruments";
import { eventually } from "@toolgate/testbed/eventually";
import { createWorkspaceShares, type WorkspaceShares } from "@toolgate/workspace-share/workspace-shares";
import { afterEach, expect, test, vi } from "vitest";
import { createWorkspaceTurns } from "../src/http/workspace-turns.ts";
import { testServer } from "./test-server.ts";

/** One file uses the share up for days. */
const LIMITS = { bytesPerSecond: 1, burstBytes: 100_000, maxWaiting: 0, maxWaitMs: 3_600_000 };
const FILE_BYTES = 500_000;

/** A gateway whose users have their own names as tokens; `stored` has the sizes of the files that reached chat. */
async function gateway(uploads: WorkspaceShares = createWorkspaceShares(LIMITS)) {
  const stored: number[] = [];
  const chat = createRouterTransport((router) => {
    router.rpc(ChatService.method.uploadFile, async (parts) => {
      let size = 0;
      for await (const { part } of parts) if (part.case === "chunk") size += part.value.length;
      stored.push(size);
      return { fileId: "f" };
    });
  });
  const keyAuth = createRouterTransport((router) => {
    router.rpc(SessionService.method.getSession, ({ token }) => ({ userId: token }));
    router.rpc(SessionService.method.authorize, () => {
      throw new ConnectError("no such workspace", Code.NotFound);
    });
  });
  const shares = () => createWorkspaceShares(LIMITS);
  const log = createLogger({ service: "gateway", level: "silent" });
  const logged = vi.spyOn(log, "error");
  const app = await testServer({
    calls: { turns: { ...createWorkspaceTurns(1), calls: shares(), management: shares(), uploads } },
    transports: { chat, "key-auth": keyAuth },
    log,
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = app.server.address() as AddressInfo;
  const upload = async (user: string, fileBytes = FILE_BYTES, signal: AbortSignal | null = null) => {
    const form = new FormData();
    form.append("file", new Blob([Buffer.alloc(fileBytes, "x")]), "a.txt");
    const init = { method: "POST", headers: { authorization: `Bearer ${user}` }, body: form, signal };
    const response = await fetch(`http://127.0.0.1:${port}/chat/index`, init);
    const { status, headers } = response;
    return { status, headers, body: (await response.json()) as { error: { code: string } } };
  };
  return {
    upload,
    stored,
    logged,
    async [Symbol.asyncDispose]() {
      // The rest of a form that was refused may still be on its way, and its connection would stay open after that.
      app.server.closeAllConnections();
      await app.close();
    },
  };
}

const counted = vi.spyOn(refusals, "add");
afterEach(() => counted.mockClear());

test("[CHAT-11] a user who has used up a share with files gets a 429, and nothing is stored; others are served", async () => {
  await using server = await gateway();
  const { upload, stored } = server;
  // The form has no message, which is found out after it has been read.
  expect((await upload("noisy")).status).toBe(400);
  const refused = await upload("noisy");
  expect(refused.status).toBe(429);
  // The debt takes days to pay.
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(1_000);
  expect(refused.body).toEqual({ error: { code: "RATE_LIMITED", message: expect.stringContaining("files") } });
  expect(counted).toHaveBeenCalledTimes(1);
  expect(stored).toEqual([FILE_BYTES]);
  expect((await upload("quiet")).status).toBe(400);
  expect(stored).toEqual([FILE_BYTES, FILE_BYTES]);
});

test("[CHAT-11] a client that leaves while its form waits is neither counted as refused nor logged as an error", async () => {
  const shares = createWorkspaceShares({ ...LIMITS, maxWaiting: 1 });
  const turns: ReturnType<WorkspaceShares["begin"]>[] = [];
  await using server = await gateway({
    ...shares,
    begin(...given) {
      const turn = shares.begin(...given);
      turns.push(turn);
      return turn;
    },
  });
  const { upload, stored, logged } = server;
  await upload("noisy");
  const left = new AbortController();
  // Small, so that the gateway sees its end: it does not read on while a form waits.
  const leaving = upload("noisy", 1, left.signal).catch(() => "left");
  await eventually(() => turns.length === 2);
  left.abort();
  await expect(turns[1]).rejects.toThrow("aborted");
  await eventLoopTurn();
  expect(await leaving).toBe("left");
  expect([stored, counted.mock.calls, logged.mock.calls]).toEqual([[FILE_BYTES], [], []]);
});

test("[CHAT-54] an unexpected error before a form is read is a 500, and not counted as a refusal", async () => {
  await using server = await gateway({
    charge() {},
    begin: () => Promise.reject(new Error("secret detail")),
  });
  const { status, body } = await server.upload("user");
  expect([status, body.error.code]).toEqual([500, "INTERNAL"]);
  expect(counted).not.toHaveBeenCalled();
  expect(server.logged).toHaveBeenCalledTimes(1);
});

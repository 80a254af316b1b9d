import type { AddressInfo } from "node:net";
import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";
import { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { createWorkspaceShares } from "@toolgate/workspace-share/workspace-shares";
import { expect, test } from "vitest";
import { testServer } from "./test-server.ts";

/** One file uses the share up for days. */
const LIMITS = { bytesPerSecond: 1, burstBytes: 100_000, maxWaiting: 0, maxWaitMs: 3_600_000 };
const FILE_BYTES = 500_000;

/** A gateway whose users have their own names as tokens; `stored` has the sizes of the files that reached chat. */
async function gateway() {
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
  const app = await testServer({
    calls: { turns: { calls: shares(), management: shares(), uploads: shares() } },
    transports: { chat, "key-auth": keyAuth },
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = app.server.address() as AddressInfo;
  const upload = async (user: string) => {
    const form = new FormData();
    form.append("file", new Blob([Buffer.alloc(FILE_BYTES, "x")]), "a.txt");
    const init = { method: "POST", headers: { authorization: `Bearer ${user}` }, body: form };
    const response = await fetch(`http://127.0.0.1:${port}/chat/index`, init);
    await response.arrayBuffer();
    return response;
  };
  return { upload, stored, [Symbol.asyncDispose]: () => app.close() };
}

test("[CHAT-11] a user who has used up a share with files gets a 429, and nothing is stored; others are served", async () => {
  await using server = await gateway();
  const { upload, stored } = server;
  // The form has no message, which is found out after it has been read.
  expect((await upload("noisy")).status).toBe(400);
  const refused = await upload("noisy");
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(stored).toEqual([FILE_BYTES]);
  expect((await upload("quiet")).status).toBe(400);
  expect(stored).toEqual([FILE_BYTES, FILE_BYTES]);
});

import { Code, ConnectError } from "@connectrpc/connect";
import { ChatService, ErrorEventSchema } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { Access } from "@toolgate/gen/toolgate/options/v1/access_pb";
import { SERVICE_NAMES, serviceEntry } from "@toolgate/service-registry/services";
import { eventually } from "@toolgate/testbed/eventually";
import { principalHeaders } from "@toolgate/testbed/principals";
import { testTokens } from "@toolgate/testbed/service-identity";
import { startTcpProxy } from "@toolgate/testbed/tcp-proxy";
import { testAuthentication } from "@toolgate/testbed/transports";
import { expect, test } from "vitest";
import { accessOf } from "../src/access.ts";
import { createLogger } from "../src/logger.ts";
import { remotePeers } from "../src/peers.ts";
import { principalOf } from "../src/principal.ts";
import { createReadiness } from "../src/process/readiness.ts";
import { startRpcServer } from "../src/rpc/rpc-server.ts";
import { sharedStreamRoutes } from "../src/rpc/shared-streams.ts";
import type { Service } from "../src/service.ts";

const log = createLogger({ service: "test", level: "silent" });
const USER = { userId: "u", email: "u@example.com", workspaceId: "w", workspace: "acme", role: "member" } as const;
const headers = principalHeaders(USER);
const PART = "x".repeat(16 * 1024);

/** A service whose streams do what the message says, behind a proxy that can freeze. */
async function serving() {
  await using opening = new AsyncDisposableStack();
  const resources = opening.use(new AsyncDisposableStack());
  const produced = { parts: 0, left: 0 };
  const service: Service = {
    routes(router) {
      router.service(ChatService, {
        async *resume() {},
        async *streamAnswer({ message }, call) {
          call.signal.addEventListener("abort", () => {
            if (message === "hang") produced.left += 1;
          });
          const { userId } = principalOf(call);
          for (let id = 1n; message === "many" ? id <= 100n : id <= 3n; id += 1n) {
            produced.parts += message === "many" ? 1 : 0;
            const content = message === "many" ? PART : userId;
            yield { event: { id, event: { case: "message" as const, value: { role: "assistant", content } } } };
          }
          if (message === "refused") {
            const detail = { desc: ErrorEventSchema, value: { code: "CHAT_BUSY", message: "wait" } };
            throw new ConnectError("busy", Code.ResourceExhausted, undefined, [detail]);
          }
          if (message === "hang") await new Promise((resolve) => call.signal.addEventListener("abort", resolve));
        },
      });
    },
    ready: async () => {},
    drain: async () => {},
    async [Symbol.asyncDispose]() {},
  };
  const draining = new AbortController();
  const authentication = testAuthentication("chat");
  const shared = sharedStreamRoutes("chat", service, { log, authentication, drainSignal: draining.signal });
  const routes: Parameters<typeof startRpcServer>[0]["routes"] = (router) => {
    service.routes(router);
    shared(router);
  };
  const readiness = createReadiness(async () => {});
  const server = resources.use(
    await startRpcServer({ routes, host: "127.0.0.1", port: 0, authentication, readiness, log }),
  );
  const proxy = resources.use(await startTcpProxy(`http://127.0.0.1:${server.port}`));
  const peers = resources.use(remotePeers({ chat: proxy.url }, { log, tokens: testTokens("gateway") }));
  const stream = peers.stream(ChatService.method.streamAnswer);
  const ask = (message: string, signal?: AbortSignal) =>
    stream({ chatId: "c", message }, { headers, ...(signal && { signal }) })[Symbol.asyncIterator]();
  const owned = opening.move();
  return { ask, stream, proxy, produced, draining, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

type Answers = ReturnType<Awaited<ReturnType<typeof serving>>["ask"]>;

async function idsOf(answers: Answers, count = Number.POSITIVE_INFINITY): Promise<number[]> {
  const ids: number[] = [];
  while (ids.length < count) {
    const { done, value } = await answers.next();
    if (done) break;
    ids.push(Number(value.event?.id));
  }
  return ids;
}

const failureOf = (answers: Answers) => idsOf(answers).then(() => undefined, ConnectError.from);

test("many streams share a connection, and each has its messages in order", async () => {
  await using server = await serving();
  const all = await Promise.all(Array.from({ length: 50 }, () => idsOf(server.ask("three"))));
  expect(all).toEqual(Array.from({ length: 50 }, () => [1, 2, 3]));
  expect(server.proxy.connections).toBe(1);
});

test("a shared stream fails like a call of its own: with the handler's code and details, and without a principal", async () => {
  await using server = await serving();
  const busy = await failureOf(server.ask("refused"));
  expect([busy?.code, busy?.rawMessage]).toEqual([Code.ResourceExhausted, "busy"]);
  expect(busy?.findDetails(ErrorEventSchema)).toMatchObject([{ code: "CHAT_BUSY", message: "wait" }]);
  const nobody = server.stream({ chatId: "c", message: "three" }, { headers: {} })[Symbol.asyncIterator]();
  expect((await failureOf(nobody))?.code).toBe(Code.Unauthenticated);
});

test("a reader that does not read stops its own stream after 256 KiB, and no other", async () => {
  await using server = await serving();
  const slow = server.ask("many");
  expect(await idsOf(slow, 1)).toEqual([1]);
  await eventually(() => server.produced.parts >= 16);
  expect(await idsOf(server.ask("three"))).toEqual([1, 2, 3]);
  expect(server.produced.parts).toBeLessThan(24);
  expect(await idsOf(slow)).toHaveLength(99);
});

test("a handler is told when its reader leaves", async () => {
  await using server = await serving();
  const reader = new AbortController();
  const open = server.ask("hang", reader.signal);
  expect(await idsOf(open, 3)).toEqual([1, 2, 3]);
  reader.abort();
  expect(await idsOf(open)).toEqual([]);
  await eventually(() => server.produced.left === 1);
});

test("streams of a server that has vanished fail without waiting for anything to be sent", async () => {
  await using server = await serving();
  const open = [server.ask("hang"), server.ask("hang")];
  for (const answers of open) expect(await idsOf(answers, 3)).toEqual([1, 2, 3]);
  server.proxy.freeze();
  const failures = await Promise.all(open.map(failureOf));
  expect(failures.map((error) => error?.code)).toEqual([Code.Unavailable, Code.Unavailable]);
  // The next ones use a new connection.
  expect(await idsOf(server.ask("three"))).toEqual([1, 2, 3]);
});

test("a server that drains finishes its streams, and new ones wait for another server", async () => {
  await using server = await serving();
  const open = server.ask("hang");
  expect(await idsOf(open, 3)).toEqual([1, 2, 3]);
  server.draining.abort();
  await eventually(async () => {
    const error = await failureOf(server.ask("three"));
    expect([error?.code, error?.rawMessage]).toEqual([Code.Unavailable, "no server is reachable"]);
  });
  expect(server.produced.left).toBe(0);
  await open.return?.();
});

// A shared connection outlives the token of the service that opened it.
test("every shared stream of the registry needs a user", () => {
  const shared = SERVICE_NAMES.flatMap((name) => serviceEntry(name).sharedStreams?.methods ?? []);
  expect(shared.length).toBeGreaterThan(0);
  for (const method of shared)
    expect([Access.MEMBER, Access.MANAGER, Access.ADMIN], method.name).toContain(accessOf(method));
});

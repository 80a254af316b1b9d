import { type AddressInfo, connect } from "node:net";
import { setImmediate as eventLoopTurn } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { createRouterTransport } from "@connectrpc/connect";
import { generateSecret } from "@toolgate/api-key/secret";
import { KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { Role, SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { type KeyVerdict, KeyVerdictSchema } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { RunResponseSchema } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { refusals } from "@toolgate/telemetry/instruments";
import { eventually } from "@toolgate/testbed/eventually";
import { type TestClock, testClock } from "@toolgate/testbed/test-clock";
import { createNeighbours } from "@toolgate/workspace-share/neighbours";
import type { ShareLimits } from "@toolgate/workspace-share/turn";
import { createWorkspaceShares, type WorkspaceShares } from "@toolgate/workspace-share/workspace-shares";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createWorkspaceTurns } from "../src/http/workspace-turns.ts";
import { testServer } from "./test-server.ts";

const LARGE = Buffer.from(JSON.stringify({ success: true, large: "x".repeat(500_000) }));
/** One large response uses the share up for hours. */
const LIMITS: ShareLimits = {
  bytesPerSecond: 1,
  burstBytes: 100_000,
  freeBytes: 16_384,
  maxWaiting: 0,
  maxWaitMs: 3_600_000,
};

describe("the share of a workspace at the gateway", () => {
  const secretOf = new Map([
    ["noisy", generateSecret()],
    ["quiet", generateSecret()],
  ]);
  let resources: AsyncDisposableStack;
  beforeEach(() => {
    resources = new AsyncDisposableStack();
  });
  afterEach(() => resources.disposeAsync());

  /** A gateway whose tools return a large result, and whose lists of keys end when the test lets them. */
  async function gateway(limits: Partial<ShareLimits> = {}) {
    const shares = () => createWorkspaceShares({ ...LIMITS, ...limits });
    const lists: { workspace: string; end: () => void }[] = [];
    let runs = 0;
    const keyAuth = createRouterTransport((router) => {
      router.rpc(SessionService.method.authorize, ({ workspace }) => ({
        userId: "u",
        email: "u@example.test",
        workspaceId: workspace,
        workspace,
        role: Role.ADMIN,
      }));
      router.rpc(KeyService.method.listKeys, async ({ workspace }) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        lists.push({ workspace, end: resolve });
        await promise;
        return {};
      });
    });
    const app = await testServer({
      calls: {
        verifyKey: async (secret): Promise<KeyVerdict> => {
          const [workspaceId] = [...secretOf].find(([, known]) => known === secret) ?? [];
          return create(KeyVerdictSchema, { keyId: "k", workspaceId: workspaceId ?? "", admitted: true, limit: 10 });
        },
        runTool: async () => {
          runs += 1;
          return create(RunResponseSchema, { outcome: { case: "resultJson", value: LARGE } });
        },
        turns: { ...createWorkspaceTurns(1), calls: shares(), management: shares() },
      },
      transports: { "key-auth": keyAuth },
    });
    resources.defer(() => app.close());
    let open = 0;
    app.server.prependListener("request", (_request, response) => {
      open += 1;
      response.once("close", () => (open -= 1));
    });
    await app.listen({ port: 0, host: "127.0.0.1" });
    const { port } = app.server.address() as AddressInfo;
    const request = (workspace: string, path: string, init: RequestInit) =>
      fetch(`http://127.0.0.1:${port}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${secretOf.get(workspace)}`, ...init.headers },
      });
    const call = async (workspace: string, signal?: AbortSignal) => {
      const response = await request(workspace, "/api/v1/tools/large", {
        method: "POST",
        body: "{}",
        ...(signal && { signal }),
      });
      await response.arrayBuffer();
      return response;
    };
    const list = (workspace: string, init: RequestInit = {}) =>
      request(workspace, "/toolgate.key_auth.v1.KeyService/ListKeys", {
        method: "POST",
        headers: { authorization: "Bearer a.b.c", "content-type": "application/json", ...init.headers },
        body: JSON.stringify({ workspace }),
        ...(init.signal && { signal: init.signal }),
      });
    /** A connection on which a test writes requests itself. */
    const connection = () => {
      const socket = connect(port, "127.0.0.1").on("error", () => {});
      resources.defer(() => void socket.destroy());
      let received = "";
      socket.on("data", (chunk) => {
        received += chunk.toString();
      });
      return { socket, received: () => received };
    };
    return { call, connection, list, lists, request, open: () => open, runs: () => runs };
  }

  const turnsOf = (clock: TestClock) => createWorkspaceTurns(1, clock, createNeighbours(clock));

  const listRequest = (workspace: string) => {
    const body = JSON.stringify({ workspace });
    return [
      "POST /toolgate.key_auth.v1.KeyService/ListKeys HTTP/1.1",
      "Host: gateway",
      "Authorization: Bearer a.b.c",
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
      "",
      body,
    ].join("\r\n");
  };

  test("[ERR-15] [LIMIT-8] a call gets a 429 while the share is used up and too much waits; other workspaces are served", async () => {
    const { call, request, runs } = await gateway();
    expect((await call("noisy")).status).toBe(200);
    const refused = await call("noisy");
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(100);
    expect(runs()).toBe(1);
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
    const others = [
      request("noisy", "/api/v1/openapi.json", { method: "GET" }),
      request("noisy", "/mcp", { method: "POST", body: JSON.stringify(list) }),
      request("noisy", "/mcp", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...list, method: "tools/call", params: { name: "large", arguments: {} } }),
      }),
    ];
    for (const response of await Promise.all(others)) expect(response.status).toBe(429);
    expect((await call("quiet")).status).toBe(200);
  });

  test("a call waits for its turn, and leaves its place when its client leaves", async () => {
    const { call, open, runs } = await gateway({ maxWaiting: 1 });
    using refused = vi.spyOn(refusals, "add");
    await call("noisy");
    for (let round = 1; round <= 2; round += 1) {
      const clients = new AbortController();
      // One of them has the only place, so the other is refused.
      const both = [1, 2].map(() =>
        call("noisy", clients.signal).then(
          ({ status }) => status,
          () => 0,
        ),
      );
      expect(await Promise.race(both)).toBe(429);
      if (round === 1) expect((await call("quiet")).status).toBe(200);
      clients.abort();
      expect((await Promise.all(both)).toSorted()).toEqual([0, 429]);
      await eventually(() => expect(open()).toBe(0));
    }
    expect(runs()).toBe(2);
    // Those that left are not counted.
    expect(refused).toHaveBeenCalledTimes(2);
  });

  test("two management requests of a workspace are under way at the same time, further ones wait, and others are served", async () => {
    const { list, lists } = await gateway({ maxRunning: 2, maxWaiting: 1 });
    const all = [1, 2, 3, 4].map(() => list("noisy"));
    const refused = await Promise.race(all);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("1");
    const quiet = list("quiet");
    await eventually(() =>
      expect(lists.map(({ workspace }) => workspace).toSorted()).toEqual(["noisy", "noisy", "quiet"]),
    );
    for (const { end } of lists) end();
    await eventually(() => expect(lists.length).toBe(4));
    lists.at(-1)?.end();
    expect((await Promise.all([...all, quiet])).map(({ status }) => status).toSorted()).toEqual([
      200, 200, 200, 200, 429,
    ]);
  });

  test("[FAIR] a management request keeps its turn until the service has finished, even when its client has left", async () => {
    const { list, lists, open } = await gateway({ maxRunning: 2, maxWaiting: 10 });
    const clients = new AbortController();
    const left = list("noisy", { signal: clients.signal }).catch(() => {});
    // A deadline of the client ends its request, and not the work of the service.
    const late = list("noisy", { headers: { "connect-timeout-ms": "1000" } });
    await eventually(() => expect(lists.length).toBe(2));
    clients.abort();
    await left;
    expect((await late).status).toBe(504);
    await eventually(() => expect(open()).toBe(0));
    const next = list("noisy");
    await eventually(() => expect(open()).toBe(1));
    for (let other = 0; other < 5; other += 1) {
      const quiet = list("quiet");
      await eventually(() => expect(lists.length).toBe(3 + other));
      lists.at(-1)?.end();
      expect((await quiet).status).toBe(200);
    }
    expect(lists.filter(({ workspace }) => workspace === "noisy").length).toBe(2);
    lists[0]?.end();
    await eventually(() => expect(lists.at(-1)?.workspace).toBe("noisy"));
    lists.at(-1)?.end();
    expect((await next).status).toBe(200);
    lists[1]?.end();
  });

  /** A workspace asks for 200 turns at the same time; returns how many it gets while no time passes. */
  async function begunAtOnce(shares: WorkspaceShares, workspace: string): Promise<number> {
    const ended = new AbortController();
    let begun = 0;
    const all = Array.from({ length: 200 }, async () => {
      using _ = await shares.begin(workspace, 0, () => ended.signal);
      begun += 1;
    });
    const settled = Promise.allSettled(all);
    await eventLoopTurn();
    ended.abort();
    await settled;
    return begun;
  }

  test("management requests of a workspace make room for calls of others, but not for its own", async () => {
    const { calls, management } = turnsOf(testClock());
    await begunAtOnce(calls, "noisy");
    expect(await begunAtOnce(management, "noisy")).toBe(200);
    await begunAtOnce(calls, "quiet");
    // 1 MiB at 96 KiB each.
    expect(await begunAtOnce(management, "noisy")).toBe(11);
  });

  test("calls are counted beside calls of others, and not beside their management requests", async () => {
    const { calls, management } = turnsOf(testClock());
    await begunAtOnce(management, "quiet");
    expect(await begunAtOnce(calls, "noisy")).toBe(200);
    await begunAtOnce(calls, "quiet");
    // 1 MiB at 24 KiB each.
    expect(await begunAtOnce(calls, "noisy")).toBe(43);
  });

  test("a length that a request only claims uses up nobody's share", async () => {
    const { call, connection } = await gateway({ bytesPerSecond: 1_000_000, maxWaiting: 10 });
    const { socket, received } = connection();
    const head = `Authorization: Bearer ${secretOf.get("noisy")}\r\nContent-Length: ${Number.MAX_SAFE_INTEGER}`;
    socket.write(`POST /api/v1/tools/large HTTP/1.1\r\nHost: gateway\r\n${head}\r\n\r\n`);
    await eventually(() => expect(received()).toContain("HTTP/1.1 "));
    socket.destroy();
    expect((await call("noisy", AbortSignal.timeout(60_000))).status).toBe(200);
  });

  test("requests that came on one connection are handled one after another, and keep nothing when it closes", async () => {
    const { connection, list, lists, open } = await gateway({ maxRunning: 2, maxWaiting: 10 });
    const { socket, received } = connection();
    socket.write(listRequest("noisy").repeat(5));
    await eventually(() => expect(lists.length).toBe(1));
    lists[0]?.end();
    await eventually(() => expect(received().match(/HTTP\/1.1 200/gu)).toHaveLength(1));
    await eventually(() => expect(lists.length).toBe(2));
    await eventually(() => expect(open()).toBe(4));
    socket.destroy();
    await eventually(() => expect(open()).toBeLessThan(4));
    lists[1]?.end();
    const both = [list("noisy"), list("noisy")];
    await eventually(() => expect(lists.length).toBe(4));
    for (const { end } of lists) end();
    for (const response of await Promise.all(both)) expect(response.status).toBe(200);
  });

  test("a connection on which far more requests come than are answered is closed", async () => {
    const { connection, lists } = await gateway();
    const { socket } = connection();
    socket.write(listRequest("noisy").repeat(1_000));
    await eventually(() => expect(socket.destroyed).toBe(true));
    expect(lists.length).toBeLessThan(2);
  });
});

import { setImmediate as eventLoopTurn } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { generateSecret } from "@toolgate/api-key/secret";
import { ReceiveResponseSchema, RefusalReason } from "@toolgate/gen/toolgate/inbound_hook/v1/receive_pb";
import { KeyVerdictSchema } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { RunResponseSchema } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { testClock } from "@toolgate/testbed/test-clock";
import { createNeighbours } from "@toolgate/workspace-share/neighbours";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createWorkspaceTurns } from "../src/http/workspace-turns.ts";
import { testServer } from "./test-server.ts";

const PER_SECOND = 250;
const HOOKS_PER_SECOND = 50;
const KNOWN = generateSecret();
const SPENT = generateSecret();

const MCP_HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2025-06-18",
};
const MCP_CALL = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "echo", arguments: {} },
});

let resources: AsyncDisposableStack;
beforeEach(() => {
  resources = new AsyncDisposableStack();
});
afterEach(() => resources.disposeAsync());

/** When the limits of the keys are reset. */
const RESET_AT_S = 1_800_000_000;

/** A gateway that knows two keys, of which one has reached its limit, ten seconds before their reset. */
async function gateway() {
  const clock = testClock();
  const others = createNeighbours(clock);
  const app = await testServer({
    calls: {
      verifyKey: async (secret) =>
        [KNOWN, SPENT].includes(secret)
          ? create(KeyVerdictSchema, {
              keyId: "k",
              workspaceId: "w",
              toolListed: true,
              admitted: secret === KNOWN,
              limit: 10,
              resetAt: BigInt(RESET_AT_S),
            })
          : undefined,
      runTool: async () =>
        create(RunResponseSchema, { outcome: { case: "resultJson", value: Buffer.from('{"success":true}') } }),
      turns: createWorkspaceTurns(1024 ** 3, clock, others),
      now: () => (RESET_AT_S - 10) * 1_000 + clock.nowMs(),
    },
    receiveHook: async ({ hook }) =>
      create(ReceiveResponseSchema, {
        outcome:
          hook === "hk_known"
            ? { case: "acceptedDeliveryId", value: "1" }
            : { case: "refusal", value: { reason: RefusalReason.NOT_FOUND } },
      }),
  });
  resources.defer(() => app.close());
  const answered: number[] = [];
  const send = async (path: string, secret: string, remoteAddress: string) => {
    const headers = { authorization: `Bearer ${secret}`, ...(path === "/mcp" && MCP_HEADERS) };
    const payload = path === "/mcp" ? MCP_CALL : "{}";
    const { statusCode } = await app.inject({ method: "POST", url: path, remoteAddress, headers, payload });
    answered.push(statusCode);
    return statusCode;
  };
  /** Resolves when there are so many responses, and no further one comes while no time passes. */
  const settled = async (count: number) => {
    await eventually(() => answered.length >= count);
    for (let turn = 0; turn < 200; turn += 1) await eventLoopTurn();
    expect(answered.length).toBe(count);
  };
  return { app, clock, others, answered, send, settled };
}

const FLOOD = PER_SECOND + 200;
const NETWORK = ["192.0.2.1", "198.51.100.1"] as const;

test.each([
  ["an unknown key", 401, "/api/v1/tools/echo", generateSecret()],
  ["no key", 401, "/api/v1/tools/echo", "none"],
  ["no key over MCP", 401, "/mcp", "none"],
  ["a path that does not exist", 404, "/nowhere", KNOWN],
  ["a wrong method", 405, "/api/v1/openapi.json", KNOWN],
  ["an unknown key over MCP", 401, "/mcp", generateSecret()],
])(
  "[TOOL] a flood of requests with %s waits while workspaces call, and delays nobody else",
  async (_, status, path, secret) => {
    const { clock, others, answered, send, settled } = await gateway();
    others.note("quiet");
    const flood = Array.from({ length: FLOOD }, () => send(path, secret, NETWORK[0]));
    await settled(PER_SECOND);
    expect(new Set(answered)).toEqual(new Set([status]));
    expect(await send("/api/v1/tools/echo", KNOWN, NETWORK[0])).toBe(200);
    expect(await send(path, secret, NETWORK[1])).toBe(status);
    await clock.pass(100);
    await settled(PER_SECOND + 2 + PER_SECOND / 10);
    await clock.pass(900);
    await Promise.all(flood);
  },
);

test.each([
  ["/api/v1/tools/echo", 429],
  // A refused call of an MCP client is a result.
  ["/mcp", 200],
])("[LIMIT-8] calls beyond a limit are refused in turn on %s, and delay no other key's", async (path, status) => {
  const { clock, others, send, settled } = await gateway();
  others.note("quiet");
  const flood = Array.from({ length: FLOOD }, () => send(path, SPENT, NETWORK[0]));
  await settled(PER_SECOND);
  expect(await send("/api/v1/tools/echo", KNOWN, NETWORK[0])).toBe(200);
  await clock.pass(1_000);
  expect(new Set(await Promise.all(flood))).toEqual(new Set([status]));
});

test("[LIMIT-7] a call that is refused after a wait is told the seconds that are left then", async () => {
  const { app, clock, others, send, settled } = await gateway();
  others.note("quiet");
  const flood = Array.from({ length: PER_SECOND }, () => send("/api/v1/tools/echo", SPENT, NETWORK[0]));
  await settled(PER_SECOND);
  const rest = Array.from({ length: 4 * PER_SECOND }, () => send("/api/v1/tools/echo", SPENT, NETWORK[0]));
  const headers = { authorization: `Bearer ${SPENT}` };
  const last = app.inject({ method: "POST", url: "/api/v1/tools/echo", headers, payload: "{}" });
  for (let turn = 0; turn < 200; turn += 1) await eventLoopTurn();
  await clock.pass(4_500);
  const { "retry-after": retryAfter, ratelimit } = (await last).headers;
  expect(retryAfter).toBe("6");
  expect(ratelimit).toContain(";t=6");
  await Promise.all([...flood, ...rest]);
});

test("[TOOL] nobody waits for the refusals of clients that have left", async () => {
  const { app, clock, others, send, settled } = await gateway();
  others.note("quiet");
  const flood = Array.from({ length: PER_SECOND }, () => send("/nowhere", KNOWN, NETWORK[0]));
  await settled(PER_SECOND);
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  const gone = Array.from({ length: 1_000 }, async () => {
    const leaving = new AbortController();
    void left.then(() => leaving.abort());
    const { signal } = leaving;
    await app.inject({ method: "POST", url: "/nowhere", remoteAddress: NETWORK[0], signal }).catch(() => {});
  });
  for (let turn = 0; turn < 200; turn += 1) await eventLoopTurn();
  leave();
  const next = send("/nowhere", KNOWN, NETWORK[0]);
  await clock.pass(100);
  await settled(PER_SECOND + 1);
  await Promise.all([...flood, ...gone, next]);
});

test("[TOOL] nobody is refused more slowly while no workspace calls", async () => {
  const { send, settled } = await gateway();
  const flood = NETWORK.flatMap((ip) => Array.from({ length: FLOOD }, () => send("/nowhere", KNOWN, ip)));
  await settled(2 * FLOOD);
  await Promise.all(flood);
});

test("[TOOL] a refusal waits for 5 s at most", async () => {
  const { clock, others, send, settled } = await gateway();
  others.note("quiet");
  const flood = Array.from({ length: 9 * PER_SECOND }, () => send("/nowhere", KNOWN, NETWORK[0]));
  await settled(PER_SECOND);
  for (let second = 1; second < 5; second += 1) {
    await clock.pass(1_000);
    await settled((1 + second) * PER_SECOND);
  }
  await clock.pass(1_000);
  await Promise.all(flood);
});

test("[IN] a flood of refused hook calls of one network waits, each for a second at most, and no other call does", async () => {
  const { clock, others, answered, send, settled } = await gateway();
  others.note("quiet");
  const [unknown, known] = ["/api/v1/hooks/hk_unknown", "/api/v1/hooks/hk_known"];
  const flood = Array.from({ length: 200 }, () => send(unknown, "any", NETWORK[0]));
  await settled(HOOKS_PER_SECOND);
  expect(new Set(answered)).toEqual(new Set([404]));
  expect(await send(known, "any", NETWORK[0])).toBe(202);
  expect(await send(unknown, "any", NETWORK[1])).toBe(404);
  await clock.pass(1_000);
  await Promise.all(flood);
});

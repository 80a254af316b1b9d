import { setTimeout as delay } from "node:timers/promises";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { ask, responseTo, verifyClient } from "./verify-client.ts";
import type { VerifyHandler } from "./verify-server.ts";
import { startVerifyServer } from "./verify-server.ts";

const LONG_MS = 120_000;
/** Longer than it takes to notice a dead server. */
const SILENT_MS = 6_000;

async function callers(count: number, go: () => boolean, call: (tool: string) => Promise<unknown>): Promise<number> {
  let done = 0;
  const loop = async (i: number) => {
    while (go()) {
      await call(`caller ${i}`);
      done += 1;
    }
  };
  await Promise.all([...Array(count).keys()].map(loop));
  return done;
}

test("a draining server finishes its open calls, the next ones go elsewhere, and none fails", async () => {
  const seen = { first: 0, second: 0 };
  const handler =
    (name: "first" | "second"): VerifyHandler =>
    async ({ tool }) => {
      seen[name] += 1;
      await new Promise((resolve) => setTimeout(resolve, 2));
      return responseTo(tool);
    };
  await using first = await startVerifyServer(handler("first"));
  await using second = await startVerifyServer(handler("second"));
  await using client = verifyClient(() => [first.address, second.address]);
  let going = true;
  const load = callers(
    50,
    () => going,
    (tool) => client.call(ask(tool), { timeoutMs: LONG_MS }),
  );
  await eventually(() => seen.first > 200 && seen.second > 200);
  await first.drain();
  const atDrain = { ...seen };
  await eventually(() => seen.second > atDrain.second + 200);
  going = false;
  await load;
  expect(seen.first).toBe(atDrain.first);
});

test("a draining server is idle only after a call that is silent for longer than it takes to notice a dead server", async () => {
  const release = Promise.withResolvers<void>();
  let begun = false;
  await using server = await startVerifyServer(async ({ tool }) => {
    begun = true;
    await release.promise;
    return responseTo(tool);
  });
  await using client = verifyClient(() => [server.address]);
  const call = client.call(ask("quiet"), { timeoutMs: LONG_MS });
  await eventually(() => begun);
  const drained = server.drain();
  const idle = server.untilIdle(LONG_MS).then(() => "idle");
  // It does not wait for longer than it is told to.
  await server.untilIdle(50);
  // The silence lasts two checks longer than it takes to notice a dead server.
  const over = delay(SILENT_MS, "silence is over");
  expect(await Promise.race([call.catch((error: unknown) => error), idle, over])).toBe("silence is over");
  release.resolve();
  expect((await call).key?.keyName).toBe("quiet");
  await idle;
  await drained;
});

test("a restart of the only server at the same address fails no call", async () => {
  const handler: VerifyHandler = async ({ tool }) => responseTo(tool);
  await using old = await startVerifyServer(handler);
  await using client = verifyClient(() => [old.address]);
  let going = true;
  const load = callers(
    20,
    () => going,
    (tool) => client.call(ask(tool), { timeoutMs: LONG_MS }),
  );
  await client.call(ask("up"), { timeoutMs: LONG_MS });
  await old.drain();
  let served = 0;
  await using next = await startVerifyServer(
    (request, context) => {
      served += 1;
      return handler(request, context);
    },
    { port: old.port },
  );
  expect(next.port).toBe(old.port);
  await eventually(() => served > 100);
  going = false;
  expect(await load).toBeGreaterThan(100);
});

test("a stream takes calls for a limited time, then its client opens another, and no call fails", async () => {
  let seen = 0;
  const callersSeen = new Set<string>();
  const handler: VerifyHandler = async ({ tool }, { caller }) => {
    seen += 1;
    callersSeen.add(caller);
    await new Promise((resolve) => setTimeout(resolve, 2));
    return responseTo(tool);
  };
  await using server = await startVerifyServer(handler, { limits: { maxAgeMs: 200 } });
  await using client = verifyClient(() => [server.address]);
  let going = true;
  const load = callers(
    20,
    () => going,
    (tool) => client.call(ask(tool), { timeoutMs: LONG_MS }),
  );
  await eventually(() => server.opened() >= 5);
  going = false;
  expect(await load).toBe(seen);
  expect([...callersSeen]).toEqual(["gateway"]);
});

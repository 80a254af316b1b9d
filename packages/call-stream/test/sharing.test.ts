import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { ask, responseTo, verifyClient } from "./verify-client.ts";
import type { VerifyHandler } from "./verify-server.ts";
import { startVerifyServer } from "./verify-server.ts";

const LONG_MS = 20_000;

function counting(): { handler: VerifyHandler; count: number } {
  const counted = {
    count: 0,
    handler: async ({ tool }: { tool: string }) => {
      counted.count += 1;
      return responseTo(tool);
    },
  };
  return counted;
}

async function bothUp(call: (tool: string) => Promise<unknown>, servers: { count: number }[]): Promise<void> {
  while (servers.some((server) => server.count === 0)) await call("warm up");
}

test("two servers share the calls", async () => {
  const [a, b] = [counting(), counting()];
  await using first = await startVerifyServer(a.handler);
  await using second = await startVerifyServer(b.handler);
  await using client = verifyClient(() => [first.address, second.address]);
  const call = (tool: string) => client.call(ask(tool), { timeoutMs: LONG_MS });
  await bothUp(call, [a, b]);
  [a.count, b.count] = [0, 0];
  for (let round = 0; round < 20; round += 1) await Promise.all([...Array(20).keys()].map((i) => call(`${i}`)));
  expect(a.count + b.count).toBe(400);
  // This does not depend on chance: with two servers, each call compares both.
  expect(Math.min(a.count, b.count)).toBeGreaterThan(150);
});

test("an address that is no longer listed finishes its calls and gets no more", async () => {
  let release: (() => void) | undefined;
  const old = counting();
  await using first = await startVerifyServer((request, context) => {
    if (request.tool !== "open") return old.handler(request, context);
    return new Promise((resolve) => (release = () => resolve(responseTo("open"))));
  });
  const next = counting();
  await using second = await startVerifyServer(next.handler);
  let addresses = [first.address];
  await using client = verifyClient(() => addresses);
  const call = (tool: string) => client.call(ask(tool), { timeoutMs: LONG_MS });
  const open = call("open");
  await eventually(() => release !== undefined);
  addresses = [second.address];
  while (next.count === 0) await call("t");
  const before = old.count;
  await Promise.all([...Array(100).keys()].map((i) => call(`${i}`)));
  expect([old.count, next.count]).toEqual([before, 101]);
  release?.();
  expect((await open).key?.keyName).toBe("open");
});

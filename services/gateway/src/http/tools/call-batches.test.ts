import { testClock } from "@toolgate/testbed/test-clock";
import { expect, test } from "vitest";
import { type BegunCall, createCallBatches } from "./call-batches.ts";

/** Calls of clients with a connection each, by number. */
function startCalls() {
  const clock = testClock();
  const batches = createCallBatches(clock);
  const connections = Array.from({ length: 100 }, () => ({ destroyed: false }));
  const begun = new Map<number, BegunCall>();
  const callOnce = async (client: number) => {
    begun.set(client, await batches.begin(connections[client] as (typeof connections)[0]));
  };
  const call = (...clients: number[]): Promise<void> => {
    for (const client of clients) void callOnce(client);
    return clock.pass(0);
  };
  const end = async (clients: number[], { hasValidKey = true } = {}) => {
    for (const client of clients) {
      const ended = begun.get(client) as BegunCall;
      begun.delete(client);
      ended.hasValidKey = hasValidKey;
      ended[Symbol.dispose]();
    }
    await clock.pass(0);
  };
  return {
    begun: () => [...begun.keys()],
    call,
    end,
    pass: (ms: number) => clock.pass(ms),
    leave(client: number) {
      for (const connection of connections.slice(client, client + 1)) connection.destroyed = true;
    },
    /** A client that has called, and may call again. */
    async expect(client: number, options?: { hasValidKey: boolean }) {
      await call(client);
      await end([client], options);
    },
  };
}
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

test("up to eight calls are under way without any of them waiting", async () => {
  const calls = startCalls();
  await calls.expect(50);
  await calls.call(...upTo(9));
  expect(calls.begun()).toEqual(upTo(8));
});

test("further calls begin together, 4 ms after the last ones", async () => {
  const calls = startCalls();
  await calls.expect(50);
  await calls.call(...upTo(9));
  await calls.pass(2);
  await calls.call(9, 10);
  expect(calls.begun()).toEqual(upTo(8));
  await calls.pass(2);
  expect(calls.begun()).toEqual(upTo(11));
  await calls.call(11);
  await calls.pass(3);
  expect(calls.begun()).toEqual(upTo(11));
  await calls.pass(1);
  expect(calls.begun()).toEqual(upTo(12));
});

test("a call that is the first in 4 ms begins at once", async () => {
  const calls = startCalls();
  await calls.expect(50);
  await calls.call(...upTo(8));
  await calls.pass(4);
  await calls.call(8);
  expect(calls.begun()).toEqual(upTo(9));
});

test("calls that have ended make room for others", async () => {
  const calls = startCalls();
  await calls.expect(50);
  await calls.call(...upTo(8));
  await calls.end([0, 1]);
  await calls.call(8, 9, 10);
  expect(calls.begun()).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
});

test("a batch that began early leaves no timer behind, which would begin the next one early", async () => {
  const calls = startCalls();
  await calls.expect(50);
  await calls.call(...upTo(9));
  await calls.pass(3);
  await calls.call(50);
  expect(calls.begun()).toEqual([...upTo(9), 50]);
  await calls.end([50]);
  await calls.call(9);
  await calls.pass(3);
  expect(calls.begun()).toEqual(upTo(9));
  await calls.pass(1);
  expect(calls.begun()).toEqual(upTo(10));
});

test.each([
  [99, upTo(8)],
  [200, upTo(16)],
])("calls that have been under way for %d ms: whether they hold up others", async (ms, begun) => {
  const calls = startCalls();
  await calls.call(...upTo(8));
  await calls.pass(ms - 1);
  await calls.expect(50);
  await calls.pass(1);
  await calls.call(...upTo(16).slice(8));
  expect(calls.begun()).toEqual(begun);
});

test("calls that took long may end in any order, and do not count twice", async () => {
  const calls = startCalls();
  await calls.call(...upTo(8));
  await calls.pass(200);
  await calls.call(...upTo(15).slice(8));
  await calls.end(upTo(8));
  await calls.expect(50);
  await calls.call(15, 16);
  expect(calls.begun()).toEqual(upTo(16).slice(8));
});

test("a batch begins once every client that may call again waits or has a call under way", async () => {
  const calls = startCalls();
  await calls.expect(8);
  await calls.expect(9);
  await calls.call(...upTo(8));
  await calls.call(8);
  expect(calls.begun()).toEqual(upTo(8));
  await calls.call(9);
  expect(calls.begun()).toEqual(upTo(10));
});

test("nobody is expected without a valid key, after leaving, or for more than a second", async () => {
  const calls = startCalls();
  const begunWithNine = async () => {
    await calls.call(...upTo(9));
    const begun = calls.begun();
    await calls.pass(4);
    await calls.end(upTo(9));
    await calls.pass(2_000);
    return begun.length;
  };
  await calls.expect(50);
  expect(await begunWithNine()).toBe(8);
  await calls.expect(50, { hasValidKey: false });
  expect(await begunWithNine()).toBe(9);
  await calls.expect(50);
  calls.leave(50);
  expect(await begunWithNine()).toBe(9);
  await calls.expect(51);
  await calls.pass(999);
  expect(await begunWithNine()).toBe(8);
  await calls.expect(51);
  await calls.pass(1_000);
  expect(await begunWithNine()).toBe(9);
});

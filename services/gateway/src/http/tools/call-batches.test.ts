import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createCallBatches } from "./call-batches.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Calls of clients with a connection each, by number. */
function startCalls() {
  const batches = createCallBatches();
  const clients = Array.from({ length: 100 }, () => ({}));
  const begun = new Map<number, Disposable>();
  const call = async (client: number) => {
    begun.set(client, await batches.begin(clients[client] as object));
  };
  const end = (...of: number[]) => {
    for (const client of of) {
      begun.get(client)?.[Symbol.dispose]();
      begun.delete(client);
    }
  };
  return {
    begun: () => [...begun.keys()],
    async call(...from: number[]) {
      for (const client of from) void call(client);
      await vi.advanceTimersByTimeAsync(0);
    },
    end,
    pass: (ms: number) => vi.advanceTimersByTimeAsync(ms),
    /** Clients that have called just before, and may call again. */
    async expect(...clients: number[]) {
      for (const client of clients) {
        await call(client);
        end(client);
      }
    },
  };
}
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

test("up to eight calls are under way without any of them waiting", async () => {
  const calls = startCalls();
  await calls.call(...upTo(8));
  expect(calls.begun()).toEqual(upTo(8));
});

test("further calls begin together, 4 ms after the last ones", async () => {
  const calls = startCalls();
  await calls.expect(50, 51);
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
  await calls.call(...upTo(8));
  await calls.pass(4);
  await calls.call(8);
  expect(calls.begun()).toEqual(upTo(9));
});

test("calls that have ended make room for others", async () => {
  const calls = startCalls();
  await calls.expect(50, 51);
  await calls.call(...upTo(8));
  calls.end(0, 1);
  await calls.call(8, 9, 10);
  expect(calls.begun()).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
});

test("calls that wait for their tools for long do not hold up others", async () => {
  const calls = startCalls();
  await calls.expect(50, 51);
  await calls.call(...upTo(8));
  await calls.pass(200);
  await calls.call(...upTo(16).slice(8));
  expect(calls.begun()).toEqual(upTo(16));
  // They may end in any order, and do not count twice.
  calls.end(...upTo(8));
  await calls.call(16);
  expect(calls.begun()).toEqual(upTo(16).slice(8));
});

test("a batch begins once every client of the last second has a call under way or waiting", async () => {
  const calls = startCalls();
  await calls.expect(8, 9);
  await calls.call(...upTo(8));
  await calls.call(8);
  expect(calls.begun()).toEqual(upTo(8));
  await calls.call(9);
  expect(calls.begun()).toEqual(upTo(10));
});

test.each([
  [1_999, upTo(8)],
  [2_000, upTo(9)],
])("clients that have not called for %d ms: whether a batch waits for them", async (ms, begun) => {
  const calls = startCalls();
  await calls.expect(...upTo(20));
  await calls.pass(ms);
  await calls.call(...upTo(9));
  expect(calls.begun()).toEqual(begun);
});

import { setImmediate as nextLoop } from "node:timers/promises";
import { newTimedId } from "@toolgate/postgres/timed-id";
import { expect, test } from "vitest";
import type { AcceptedCall } from "../store/accept.ts";
import { createAcceptor } from "./acceptor.ts";

const createdAt = new Date(1_780_000_000_000);

function newCall(call: Partial<AcceptedCall> & { names?: string[] } = {}): AcceptedCall {
  const { names = [], ...rest } = call;
  return {
    id: newTimedId(createdAt),
    createdAt,
    hookId: 1,
    workspaceId: "w",
    keys: names.map((name) => Buffer.from(name)),
    externalId: null,
    body: new Uint8Array(),
    contentType: "",
    headers: {},
    requestId: "",
    trace: { traceparent: "", tracestate: "" },
    ...rest,
  };
}

/** A store in memory that knows keys, as the table does. */
function memoryStore(known: Record<string, string> = {}) {
  const keys = new Map(Object.entries(known));
  const batches: string[][] = [];
  return {
    batches,
    keys,
    store: async (calls: readonly AcceptedCall[]) => {
      batches.push(calls.map(({ id }) => id));
      const originals = new Map<string, string>();
      for (const call of calls) {
        const original = call.keys.map((key) => keys.get(key.toString())).find((id) => id !== undefined);
        if (original) originals.set(call.id, original);
        else for (const key of call.keys) keys.set(key.toString(), call.id);
      }
      return originals;
    },
  };
}

const dataError = (text: string) => Object.assign(new Error(text), { code: "22021" });

test("[IN-22] [IN-23] of equal calls in one batch the first is stored, and the others get its id", async () => {
  const memory = memoryStore();
  const acceptor = createAcceptor(memory.store);
  const [first, second, third] = [newCall({ names: ["a"] }), newCall({ names: ["b", "a"] }), newCall({ names: ["b"] })];
  const outcomes = await Promise.all([first, second, third].map((call) => acceptor.accept(call)));
  expect(outcomes).toEqual([
    { deliveryId: first.id, isDuplicate: false },
    { deliveryId: first.id, isDuplicate: true },
    // The second call was not accepted, so this one is new.
    { deliveryId: third.id, isDuplicate: false },
  ]);
});

test("[IN-23] a repeat of a call that turns out to be known is judged on its own", async () => {
  const memory = memoryStore({ a: "original" });
  const acceptor = createAcceptor(memory.store);
  const calls = [newCall({ names: ["a", "b"] }), newCall({ names: ["b"] }), newCall({ names: ["b"] })];
  const outcomes = await Promise.all(calls.map((call) => acceptor.accept(call)));
  expect(outcomes).toEqual([
    { deliveryId: "original", isDuplicate: true },
    { deliveryId: calls[1]?.id, isDuplicate: false },
    { deliveryId: calls[1]?.id, isDuplicate: true },
  ]);
});

test("[IN-22] a call that the database rejects fails alone", async () => {
  const memory = memoryStore();
  const bad = newCall({ names: ["bad"] });
  const acceptor = createAcceptor(async (calls) => {
    if (calls.includes(bad)) throw dataError("bad row");
    return memory.store(calls);
  });
  const calls = Array.from({ length: 20 }, () => newCall());
  calls.splice(7, 0, bad);
  const outcomes = await Promise.allSettled(calls.map((call) => acceptor.accept(call)));
  expect(outcomes.map(({ status }) => status)).toEqual(calls.map((call) => (call === bad ? "rejected" : "fulfilled")));
});

test("[IN-22] calls of others are not stored together with those of a workspace that was locked a moment ago", async () => {
  const batches: string[] = [];
  const acceptor = createAcceptor(async (calls) => {
    const workspaces = calls.map(({ workspaceId }) => workspaceId).join(" ");
    batches.push(workspaces);
    if (workspaces.includes("locked")) throw Object.assign(new Error("lock timeout"), { code: "55P03" });
    return new Map();
  });
  for (let time = 0; time < 2; time += 1) {
    const accepted = ["locked", "free"].map((workspaceId) => acceptor.accept(newCall({ workspaceId })));
    expect((await Promise.allSettled(accepted)).map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  }
  expect(batches).toEqual(["locked free", "locked", "free", "free", "locked"]);
});

test("[IN-22] without a database every waiting call fails, and beyond a bound immediately", async () => {
  const { promise: down, reject } = Promise.withResolvers<never>();
  const acceptor = createAcceptor(() => down);
  const body = new Uint8Array(262_144);
  const settled: string[] = [];
  const accepts = Array.from({ length: 200 }, async () =>
    settled.push(await acceptor.accept(newCall({ body })).then(String, String)),
  );
  await nextLoop();
  await nextLoop();
  const refused = settled.length;
  expect(refused).toBeGreaterThan(0);
  expect(refused).toBeLessThan(150);
  expect(settled.every((text) => text.includes("overloaded"))).toBe(true);
  reject(new Error("postgres is down"));
  await Promise.all(accepts);
  expect(settled.filter((text) => text.includes("postgres is down"))).toHaveLength(200 - refused);
});

test("[IN-22] a call that was received too long ago is not stored, not even after others of its batch", async () => {
  const memory = memoryStore();
  const acceptor = createAcceptor(memory.store);
  const late = acceptor.accept(newCall(), performance.now() - 4_000);
  const outcomes = await Promise.allSettled([late, acceptor.accept(newCall())]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  expect(memory.batches.map(({ length }) => length)).toEqual([1]);
});

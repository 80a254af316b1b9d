import { setImmediate as nextLoop } from "node:timers/promises";
import { newTimedId } from "@toolgate/postgres/timed-id";
import { expect, test } from "vitest";
import type { AcceptedCall } from "../store/accept.ts";
import { createAcceptor } from "./acceptor.ts";

const createdAt = new Date(1_780_000_000_000);

function newCall(call: Partial<AcceptedCall> = {}): AcceptedCall {
  return {
    id: newTimedId(createdAt),
    createdAt,
    hookId: 1,
    workspaceId: "w",
    since: performance.now(),
    keys: [],
    externalId: null,
    body: new Uint8Array(),
    contentType: "",
    headers: {},
    requestId: "",
    trace: { traceparent: "", tracestate: "" },
    ...call,
  };
}

/** Stores everything as new. */
const storeNew = async () => new Map();

const dataError = (text: string) => Object.assign(new Error(text), { code: "22021" });

test("[IN-22] a call that the database rejects fails alone", async () => {
  const bad = newCall();
  const acceptor = createAcceptor(async (calls) => {
    if (calls.includes(bad)) throw dataError("bad row");
    return storeNew();
  });
  const calls = Array.from({ length: 20 }, () => newCall());
  calls.splice(7, 0, bad);
  const outcomes = await Promise.allSettled(calls.map((call) => acceptor.add(call)));
  expect(outcomes.map(({ status }) => status)).toEqual(calls.map((call) => (call === bad ? "rejected" : "fulfilled")));
});

test("[IN-22] calls of others are not stored together with those of a workspace that was locked a moment ago", async () => {
  const batches: string[] = [];
  const acceptor = createAcceptor(async (calls) => {
    const workspaces = calls.map(({ workspaceId }) => workspaceId).join(" ");
    batches.push(workspaces);
    if (workspaces.includes("locked")) throw Object.assign(new Error("lock timeout"), { code: "55P03" });
    return storeNew();
  });
  for (let time = 0; time < 2; time += 1) {
    const accepted = ["locked", "free"].map((workspaceId) => acceptor.add(newCall({ workspaceId })));
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
    settled.push(await acceptor.add(newCall({ body })).then(String, String)),
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
  const batches: number[] = [];
  const acceptor = createAcceptor((calls) => {
    batches.push(calls.length);
    return storeNew();
  });
  const late = acceptor.add(newCall({ since: performance.now() - 4_000 }));
  const outcomes = await Promise.allSettled([late, acceptor.add(newCall())]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  expect(batches).toEqual([1]);
});

import { expect, test } from "vitest";
import type { OutboxRow } from "./outbox-rows.ts";
import { MAX_UNSETTLED, PublishWindow } from "./publish-window.ts";

const row = (eventId: string, workspaceId = "w", bytes = 100): OutboxRow => ({
  eventId,
  workspaceId,
  created: 0n,
  bytes: new Uint8Array(bytes),
});
const rows = (from: number, count: number) => Array.from({ length: count }, (_, index) => row(`evt_${from + index}`));
const ids = (some: readonly OutboxRow[]) => some.map(({ eventId }) => eventId);

const nextOf = (window: PublishWindow, nowMs = 0) => ids(window.next(Number.POSITIVE_INFINITY, nowMs));
const MIB = 1024 * 1024;

test("an event that could not be published makes room, and one that is published again needs none", () => {
  const window = new PublishWindow();
  const first = window.admit(rows(0, MAX_UNSETTLED), 0);
  expect(first).toHaveLength(MAX_UNSETTLED);
  expect(window.admit([row("evt_next")], 0)).toEqual([]);
  expect(window.admit(first, 0)).toHaveLength(MAX_UNSETTLED);
  window.forget(first.slice(0, 1));
  // It has waited longer than the one that comes now.
  expect(window.admit([row("evt_last")], 0)).toEqual([]);
  expect(nextOf(window)).toEqual(["evt_next"]);
});

test("a listener that settles nothing gets the next events after 30 s", () => {
  const window = new PublishWindow();
  window.admit(rows(0, MAX_UNSETTLED + 5), 1_000);
  window.expire(30_999);
  expect(nextOf(window, 30_999)).toEqual([]);
  window.expire(31_000);
  expect(nextOf(window, 31_000)).toEqual(ids(rows(MAX_UNSETTLED, 5)));
});

test("what is under way and what waits is bounded for each workspace, and the rest is left to the sweeper", () => {
  const window = new PublishWindow();
  const large = Array.from({ length: 40 }, (_, index) => row(`evt_large${index}`, "w", MIB));
  expect(ids(window.admit(large, 0))).toEqual(["evt_large0", "evt_large1"]);
  expect(window.admit([row("evt_other", "other")], 0)).toHaveLength(1);
  const published = ["evt_large0", "evt_large1"];
  for (;;) {
    window.settle(published.slice(-2));
    const next = nextOf(window);
    if (next.length === 0) break;
    expect(next).toHaveLength(2);
    published.push(...next);
  }
  expect(published).toEqual(ids(large.slice(0, 2 + 16)));
});

test("an event that a replica has published in the meantime is not published again", () => {
  const window = new PublishWindow();
  window.admit(rows(0, MAX_UNSETTLED + 3), 0);
  window.settle([`evt_${MAX_UNSETTLED + 1}`, ...ids(rows(0, 10))]);
  expect(nextOf(window)).toEqual([`evt_${MAX_UNSETTLED}`, `evt_${MAX_UNSETTLED + 2}`]);
});

test("the events that follow are published in messages of bounded size, of workspaces in turn", () => {
  const window = new PublishWindow();
  const both = (["a", "b"] as const).map((workspace) =>
    Array.from({ length: 4 }, (_, index) => row(`evt_${workspace}${index}`, workspace, MIB)),
  );
  window.admit(both.flat(), 0);
  window.settle(["evt_a0", "evt_a1", "evt_b0", "evt_b1"]);
  const messages = [1, 2, 3].map(() => ids(window.next(MIB, 0)));
  expect(messages).toEqual([["evt_a2"], ["evt_a3"], ["evt_b2"]]);
});

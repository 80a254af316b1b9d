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

test("an event that could not be published makes room, and one that is published again needs none", () => {
  const window = new PublishWindow();
  const first = window.admit(rows(0, MAX_UNSETTLED), 0);
  expect(first).toHaveLength(MAX_UNSETTLED);
  expect(window.admit([row("evt_next")], 0)).toEqual([]);
  expect(window.admit(first, 0)).toHaveLength(MAX_UNSETTLED);
  window.forget(first.slice(0, 1));
  // It has waited longer than the one that comes now.
  expect(window.admit([row("evt_last")], 0)).toEqual([]);
  expect(ids(window.expire(0))).toEqual(["evt_next"]);
});

test("a listener that settles nothing gets the next events after 30 s", () => {
  const window = new PublishWindow();
  window.admit(rows(0, MAX_UNSETTLED + 5), 1_000);
  expect(window.expire(30_999)).toEqual([]);
  expect(ids(window.expire(31_000))).toEqual(ids(rows(MAX_UNSETTLED, 5)));
});

test("what waits is bounded for each workspace, and the rest is left to the sweeper", () => {
  const window = new PublishWindow();
  const large = Array.from({ length: 40 }, (_, index) => row(`evt_large${index}`, "w", 1024 * 1024));
  window.admit([...rows(0, MAX_UNSETTLED), ...large], 0);
  expect(ids(window.settle(ids(rows(0, MAX_UNSETTLED)), 0))).toEqual(ids(large.slice(0, 16)));
  expect(window.admit([row("evt_other", "other")], 0)).toHaveLength(1);
});

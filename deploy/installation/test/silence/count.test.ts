import { expect, test } from "vitest";
import { type Arrival, countLost, countRepeated, longestSilence } from "./count.ts";

const arrival = (path: string, atMs: number, n = atMs): Arrival => ({
  path,
  atMs,
  deliveryId: `${path} ${n}`,
  type: "custom.x",
  n,
});

test("the longest silence is that of one endpoint, from its last arrival before the kill to its first one after it", () => {
  const arrivals = [arrival("/a", 100), arrival("/b", 150), arrival("/b", 250), arrival("/a", 900), arrival("/b", 950)];
  const span = { fromMs: 200, untilMs: 800 };
  expect(longestSilence(arrivals, ["/a", "/b"], span)).toBe(800);
  expect(longestSilence(arrivals, ["/b"], span)).toBe(700);
});

test("an endpoint that gets nothing more is silent to the end of the span", () => {
  expect(longestSilence([arrival("/a", 100)], ["/a"], { fromMs: 200, untilMs: 1_000 })).toBe(900);
});

test("a delivery that arrives a second time counts as repeated where that happens", () => {
  const arrivals = [arrival("/a", 100, 1), arrival("/a", 300, 1), arrival("/a", 500, 1), arrival("/a", 600, 2)];
  expect(countRepeated(arrivals, { fromMs: 200, untilMs: 400 })).toBe(1);
  expect(countRepeated(arrivals, { fromMs: 0, untilMs: 1_000 })).toBe(2);
});

test("an accepted event is lost once for each subscriber that never got it", () => {
  const subscribers = new Map([["custom.x", ["/a", "/b"]]]);
  const accepted = new Map([["custom.x", [1, 2]]]);
  expect(countLost([arrival("/a", 100, 1), arrival("/b", 100, 2)], accepted, subscribers)).toBe(2);
});

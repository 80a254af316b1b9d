import { expect, test } from "vitest";
import { RunPlaces } from "./run-places.ts";

/** Takes as many as the workspace can get. */
function takeAll(places: RunPlaces, workspaceId: string): Disposable[] {
  const taken: Disposable[] = [];
  for (let place = places.take(workspaceId); place; place = places.take(workspaceId)) taken.push(place);
  return taken;
}

test("[FAIR] workspaces that take all they can leave places for one more", () => {
  const places = new RunPlaces(4_096);
  const each = ["a", "b", "c", "d", "e"].map((workspaceId) => takeAll(places, workspaceId).length);
  expect(each).toEqual([2_048, 1_024, 512, 256, 128]);
  expect(takeAll(places, "quiet").length).toBe(64);
});

test("[FAIR] a place is free again when its call has ended", () => {
  const places = new RunPlaces(8);
  const [first] = takeAll(places, "a");
  expect(places.take("a")).toBeUndefined();
  first?.[Symbol.dispose]();
  expect(places.take("a")).toBeDefined();
  expect(places.take("a")).toBeUndefined();
});

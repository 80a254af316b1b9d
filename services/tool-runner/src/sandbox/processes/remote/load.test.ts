import { expect, test } from "vitest";
import { Load } from "./load.ts";

test("[TOOL-2] children move from the sandbox process that has most to the one that has fewest, one by one", () => {
  const load = new Load();
  const addresses = ["a", "b", "c"];
  let moves = 0;
  const place = (address: string) =>
    load.add(address, {
      leave: () => {
        moves += 1;
      },
    });
  expect(load.move(addresses)).toBeUndefined();
  for (let n = 0; n < 7; n += 1) place("a");
  place("b");
  for (let move = load.move(addresses); move !== undefined; move = load.move(addresses)) {
    move.leave();
    place(move.to);
  }
  expect(addresses.map((address) => load.of(address)).toSorted()).toEqual([2, 3, 3]);
  expect(moves).toBe(4);
  expect(load.move(["a"])).toBeUndefined();
});

test("[TOOL-2] a child that is not connected yet counts, and does not move", () => {
  const load = new Load();
  const children = [{}, {}, {}];
  for (const child of children) load.add("a", child);
  expect(load.of("a")).toBe(3);
  expect(load.move(["a", "b"])).toBeUndefined();
  for (const child of children) load.remove("a", child);
  for (const child of children) load.remove("a", child);
  expect(load.isEmpty).toBe(true);
});

import { expect, test } from "vitest";
import { TextWindow } from "./text-window.ts";

test("the end of a long window is read in time, however small the pieces are", () => {
  const window = new TextWindow();
  let text = "";
  for (let place = 0; place < 2_000_000; place++) {
    window.add("x");
    text += window.slice(place, place + 1);
  }
  expect(text.length).toBe(2_000_000);
});

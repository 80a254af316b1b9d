import fc from "fast-check";
import { expect, test } from "vitest";
import { TextWindow } from "./text-window.ts";

test("a window reads the same as the whole text", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 4 })),
      fc.nat(40),
      fc.nat(40),
      fc.nat(40),
      (pieces, one, two, three) => {
        const text = pieces.join("");
        const [from = 0, start = 0, end = 0] = [one, two, three]
          .map((place) => Math.min(place, text.length))
          .sort((a, b) => a - b);
        const window = new TextWindow();
        for (const piece of pieces) window.add(piece);
        window.startAt(from);
        window.add("more");
        expect(window.length).toBe(text.length + 4 - from);
        expect(window.slice(start, end)).toBe(text.slice(start, end));
        expect(window.slice(start)).toBe(`${text.slice(start)}more`);
      },
    ),
  );
});

test("the end of a long window is read in time, however small the pieces are", () => {
  const window = new TextWindow();
  let text = "";
  for (let place = 0; place < 2_000_000; place++) {
    window.add("x");
    text += window.slice(place, place + 1);
  }
  expect(text.length).toBe(2_000_000);
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EventReader } from "./event-reader.ts";

const read = (pieces: readonly string[], maxCharacters = 1_000) => {
  const reader = new EventReader(maxCharacters);
  return pieces.flatMap((piece) => reader.push(piece));
};

describe("events of a model's server", () => {
  test("are the data of each event, without other fields and comments", () => {
    const text =
      ': hello\n\nevent: x\nid: 7\ndata: {"a":1}\n\ndata:two\ndata: lines\n\ndata\n\n\n\ndata: [DONE]\n\ndata: unfinished\n';
    expect(read([text])).toEqual(['{"a":1}', "two\nlines", "[DONE]"]);
  });

  test("do not depend on line ends and on where the text was cut", () => {
    const lines = fc.array(fc.constantFrom("data: a", "data:b", "", "", "id: 1", ": c", "data: "), { maxLength: 12 });
    const cuts = fc.array(fc.nat({ max: 80 }), { maxLength: 8 });
    fc.assert(
      fc.property(lines, fc.constantFrom("\n", "\r\n", "\r"), cuts, (all, lineEnd, places) => {
        const text = `${all.join(lineEnd)}${lineEnd}data: last${lineEnd}${lineEnd}: end`;
        const at = [0, ...places.sort((one, other) => one - other), text.length];
        const pieces = at.slice(1).map((end, index) => text.slice(at[index], end));
        expect(read(pieces)).toEqual(read([text.replaceAll(lineEnd, "\n")]));
      }),
    );
  });

  test("end with \\r, whose \\n may come later", () => {
    expect(read(["data: a\r", "", "\n", "\r", "data: b\n\r"])).toEqual(["a", "b"]);
  });

  test("with a long line are read in time, however small the pieces are", () => {
    const reader = new EventReader(10_000_000);
    reader.push(`data: ${"x".repeat(4_000_000)}`);
    for (let piece = 0; piece < 1_000_000; piece++) reader.push("y");
    expect(reader.push("\n\n").map((data) => data.length)).toEqual([5_000_000]);
  });

  test("are refused when they are too long, on one line or on many", () => {
    expect(() => read(["data: ", "x".repeat(600), "x".repeat(600)])).toThrow("too long");
    expect(() => read(Array.from({ length: 100 }, () => "data: 0123456789\n"))).toThrow("too long");
    expect(read(Array.from({ length: 90 }, () => "data: 0123456789\n\n"))).toHaveLength(90);
  });
});

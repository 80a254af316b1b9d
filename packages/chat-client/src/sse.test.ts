import fc from "fast-check";
import { expect, test } from "vitest";
import { type Block, SseParser } from "./sse.ts";

function parse(pieces: readonly string[]): Block[] {
  const parser = new SseParser();
  return pieces.flatMap((piece) => parser.push(piece));
}

test("[CHAT-16] blocks have their fields, comments are left out, and the unfinished end is not a block", () => {
  const text = ": hello\nretry: 5\n\nid: 1\nevent: message\ndata: {\ndata:}\n\nid: 2\n\ndata: cut";
  expect(parse([text])).toEqual([{}, { id: "1", event: "message", data: "{\n}" }, { id: "2" }]);
});

test("[CHAT-16] line ends of every kind, and pieces cut anywhere, give the same blocks", () => {
  const end = fc.constantFrom("\n", "\r\n", "\r");
  const line = fc.constantFrom("id: 7", "event: done", 'data: {"a": "ä: b"}', "data", ": note", "other: x", "");
  fc.assert(
    fc.property(fc.array(line), end, fc.array(fc.nat(300)), (lines, lineEnd, cuts) => {
      const text = [...lines, "", "", "x"].join(lineEnd);
      const places = [0, ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length];
      const pieces = places.slice(1).map((place, index) => text.slice(places[index], place));
      expect(parse(pieces)).toEqual(parse([[...lines, "", "", "x"].join("\n")]));
    }),
  );
});

test("[CHAT-16] a line end that is cut in two stays one, whatever comes between its halves", () => {
  for (const between of [[], [""], ["", ""]]) {
    expect(parse(["data: a\r", ...between, "\nid: 7\r", ...between, "\n\r\n"])).toEqual([{ data: "a", id: "7" }]);
  }
});

test("an endless event is refused", () => {
  const parser = new SseParser();
  const piece = "x".repeat(1_000_000);
  for (let size = 0; size < 4; size += 1) expect(parser.push(piece)).toEqual([]);
  expect(() => parser.push(piece)).toThrow("too large");
});

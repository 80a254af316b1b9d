import { expect, test } from "vitest";
import { createMessageReader, encodeHead } from "./messages.ts";

test("[TOOL-2] messages are read as they were sent, however the bytes are cut", () => {
  const sent: [number, string][] = [
    [1, ""],
    [2, "a"],
    [7, "x".repeat(300)],
    [3, "end"],
  ];
  const bytes = Buffer.concat(sent.flatMap(([kind, body]) => [encodeHead(kind, body.length), Buffer.from(body)]));
  for (const size of [1, 2, 3, 5, 7, 64, bytes.length]) {
    const read: [number, string][] = [];
    const feed = createMessageReader((kind, body) => read.push([kind, body.toString()]));
    for (let at = 0; at < bytes.length; at += size) feed(bytes.subarray(at, at + size));
    expect(read).toEqual(sent);
  }
});

test("[TOOL-2] a message that is too large is refused before it has arrived", () => {
  const feed = createMessageReader(() => {});
  expect(() => feed(encodeHead(1, 2 ** 31))).toThrow(/too large/u);
});

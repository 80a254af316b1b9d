import { expect, test } from "vitest";
import { type ChildRun, createChildRunBook } from "./child-run-book.ts";
import type { Home } from "./isolate-homes.ts";
import { type FromChild, MAX_MESSAGE_CHARS } from "./protocol.ts";

test("[TOOL-2] a message that is too large for its frame ends its own run and no other", () => {
  const sent: FromChild[] = [];
  const book = createChildRunBook((message) => sent.push(message));
  const home = { tickets: new Set([1, 2]) } as unknown as Home;
  const run = () => ({ home, limits: { resultBytes: 1_000 }, cpuMs: 0 }) as ChildRun;
  const [large, other] = [run(), run()];
  book.runs.set(1, large).set(2, other);
  book.pass(1, large, [["call", 1, 1, "fetch", "x".repeat(MAX_MESSAGE_CHARS)]]);
  book.pass(2, other, [["call", 2, 1, "fetch", "[]"]]);
  expect(sent.map(([kind, ticket]) => `${kind} ${ticket}`)).toEqual(["fail 1", "call 2"]);
  expect([...home.tickets]).toEqual([2]);
});

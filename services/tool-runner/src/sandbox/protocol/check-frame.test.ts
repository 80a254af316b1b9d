import { describe, expect, it } from "vitest";
import { checkFrame } from "./check-frame.ts";

const RIGHT = [
  ["ok", 1, "{}", 0.5],
  ["fail", 1, "threw", "message", "", 0],
  ["call", 1, 2, "fetch", "[]"],
  ["log", 1, "line"],
  ["used", 1, 3.5],
  ["skipped", 1],
  ["full", 1],
  ["lost", 1],
];

describe("a frame of a sandbox child", () => {
  it("[TOOL-2] is accepted with every kind of message", () => {
    const frame = { done: 3, messages: RIGHT };
    expect(checkFrame(frame)).toBe(frame);
    expect(checkFrame({ done: 0, messages: [] }).messages).toEqual([]);
  });

  it.each([
    null,
    1,
    "frame",
    [],
    {},
    { done: 0 },
    { messages: [] },
    { done: "1", messages: [] },
    { done: -1, messages: [] },
  ])("[TOOL-2] is refused when it is %j", (value) => {
    expect(() => checkFrame(value)).toThrow(/not a frame/u);
  });

  it.each([
    ["ok", 1, { length: "x" }, 1],
    ["ok", 1, "{}", null],
    ["ok", 1, "{}", "1"],
    ["ok", 1, "{}", -1],
    ["ok", 1, "{}", 1e308],
    ["ok", 1, "{}"],
    ["ok", 1.5, "{}", 1],
    ["fail", 1, "interrupted", "", "", 1],
    ["fail", 1, "threw", {}, "", 1],
    ["call", 1, "2", "fetch", "[]"],
    ["call", 1, 2, "fetch", []],
    ["log", 1, ["line"]],
    ["used", 1, "9"],
    ["skipped"],
    ["lost", 1, 2],
    ["__proto__", 1],
    ["define", 1, "code"],
    "ok",
    null,
  ])("[TOOL-2] is refused with the message %j", (...message) => {
    const sent = message.length === 1 ? message[0] : message;
    expect(() => checkFrame({ done: 0, messages: [sent] })).toThrow(/not a frame/u);
  });
});

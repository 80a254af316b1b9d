import { expect, test } from "vitest";
import { ThinkingFilter } from "./thinking.ts";

test.each([
  ["<think>hm\n</think>\n\nYes.", "Yes."],
  ["\n<thinking>a < b</thinking>Yes.", "Yes."],
  ["<think>never ends", ""],
  ["<thing>x</thing>", "<thing>x</thing>"],
  ["Yes, <think> is a tag.", "Yes, <think> is a tag."],
  ["<th", "<th"],
  ["", ""],
])("the answer of %j is %j, however it arrives", (text, answer) => {
  for (const pieces of [[text], text.split("")]) {
    const filter = new ThinkingFilter(false);
    expect(pieces.map((piece) => filter.push(piece)).join("") + filter.end()).toBe(answer);
  }
});

test.each([
  ["hm</think>\nYes.", "Yes."],
  ["Yes.", "Yes."],
])("of a model that begins by thinking, the answer of %j is %j", (text, answer) => {
  const filter = new ThinkingFilter(true);
  expect(
    text
      .split("")
      .map((piece) => filter.push(piece))
      .join("") + filter.end(),
  ).toBe(answer);
});

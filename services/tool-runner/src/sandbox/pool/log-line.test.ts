import { expect, test } from "vitest";
import { shownLine } from "./log-line.ts";

const sent = (words: unknown[]) => `\0${JSON.stringify(words)}`;

test("[LOG] [EVT-31] objects in a log line are redacted by the names of their members, texts are shown as they are", () => {
  expect(shownLine("password=x")).toBe("password=x");
  expect(shownLine(sent(["got", ['{"password":"x","list":[{"api_key":"y"}],"n":1}'], "5"]))).toBe(
    'got {"password":"[entfernt]","list":[{"api_key":"[entfernt]"}],"n":1} 5',
  );
  expect(shownLine(sent([["[1,2]"], ["null"]]))).toBe("[1,2] null");
});

test("[LOG] a line that no guest sends shows nothing of what it says", () => {
  for (const line of ["\0", "\0{", "\0{}", '\0["a",["{secret"]]', `\0${"x".repeat(20_000)}`]) {
    expect(shownLine(line)).toMatch(/^\(a line /);
  }
  expect(shownLine("x".repeat(5_000))).toHaveLength(1_000);
});

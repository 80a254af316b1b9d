import { expect, test } from "vitest";
import { type RecordedWrite, withheld } from "./withheld.ts";

const write = { tool: "t", name: "sendMail", detail: { to: "a@b.test" } };

test("[EVT-59] [CHAT-10] in test mode a write is not made, in a dry run it is recorded, otherwise it is made", () => {
  expect(withheld({ dryRun: undefined, testMode: false }, write)).toBe(false);
  expect(withheld({ dryRun: undefined, testMode: true }, write)).toBe(true);
  const dryRun: RecordedWrite[] = [];
  expect(withheld({ dryRun, testMode: false }, write)).toBe(true);
  expect(dryRun).toEqual([write]);
});

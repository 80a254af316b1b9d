import { expect, test } from "vitest";
import { UsedSecrets } from "../../domain/calls/remove-secrets.ts";
import { RecordedWrites } from "../recorded-writes.ts";
import { skipsWrite } from "./skip-write.ts";

const detail = { to: "a@b.test" };

test("[EVT-59] [CHAT-10] a write is skipped in test mode, recorded in a dry run, and made otherwise", () => {
  const suppressed = new Set<string>();
  const skips = (scope: { dryRun: RecordedWrites | undefined; testMode: boolean }) =>
    skipsWrite({ tool: "t", scope: { ...scope, suppressed } }, "sendMail", detail);
  expect(skips({ dryRun: undefined, testMode: false })).toBe(false);
  expect(suppressed.size).toBe(0);
  expect(skips({ dryRun: undefined, testMode: true })).toBe(true);
  expect([...suppressed]).toEqual(["t"]);
  const dryRun = new RecordedWrites((value) => value);
  expect(skips({ dryRun, testMode: false })).toBe(true);
  const detailJson = JSON.stringify(detail);
  expect(dryRun.list(new UsedSecrets())).toEqual([{ tool: "t", name: "sendMail", detailJson }]);
});

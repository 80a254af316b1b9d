import { expect, test } from "vitest";
import { closingLine, tallyTests } from "./tally.ts";

const file = (status: string, ...tests: string[]) => ({
  name: "a.test.ts",
  status,
  assertionResults: tests.map((test) => {
    const [status = "", title = "a test"] = test.split("|");
    return { status, title };
  }),
});
const report = (numPassedTests: number, numFailedTests: number, ...testResults: ReturnType<typeof file>[]) => ({
  success: numFailedTests === 0,
  numPassedTests,
  numFailedTests,
  testResults,
});

test("counts passed and failed tests", () => {
  const mixed = report(2, 1, file("failed", "passed", "failed"), file("passed", "passed"));
  expect(tallyTests(mixed, 1)).toMatchObject({ passed: 2, failed: 1, skipped: 0 });
});

test("a run that fails without a failed test counts as a failure", () => {
  expect(tallyTests(report(1, 0, file("passed", "passed")), 1)).toMatchObject({ passed: 1, failed: 1 });
  expect(tallyTests(undefined, 0)).toEqual({ passed: 0, failed: 1 });
  expect(tallyTests(undefined, null)).toEqual({ passed: 0, failed: 1 });
});

test("the closing line sums up", () => {
  expect(
    closingLine([
      { passed: 1, failed: 0 },
      { passed: 40, failed: 2 },
    ]),
  ).toBe("41 passed, 2 failed");
});

test("the closing line says how many tests were skipped, and why", () => {
  const run = tallyTests(
    report(
      2,
      0,
      file("passed", "passed", "skipped|not run: php is not on this machine", "skipped"),
      file("passed", "passed", "skipped"),
    ),
    0,
  );
  expect(closingLine([{ passed: 1, failed: 0 }, run])).toBe(
    "3 passed, 0 failed, 2 skipped (php is not on this machine)",
  );
});

import { expect, test } from "vitest";
import { closingLine, tallyTests } from "./tally.ts";

const file = (status: string, ...tests: string[]) => ({
  status,
  assertionResults: tests.map((status) => ({ status })),
});
const report = (numPassedTests: number, numFailedTests: number, ...testResults: ReturnType<typeof file>[]) => ({
  success: numFailedTests === 0,
  numPassedTests,
  numFailedTests,
  testResults,
});

test("counts passed and failed tests", () => {
  const mixed = report(2, 1, file("failed", "passed", "failed"), file("passed", "passed"));
  expect(tallyTests(mixed, 1)).toEqual({ passed: 2, failed: 1 });
});

test("a file that cannot be loaded counts as a failure", () => {
  expect(tallyTests(report(1, 0, file("failed"), file("passed", "passed")), 1)).toEqual({ passed: 1, failed: 1 });
});

test("a run that fails without a failed test counts as a failure", () => {
  expect(tallyTests(report(1, 0, file("passed", "passed")), 1)).toEqual({ passed: 1, failed: 1 });
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

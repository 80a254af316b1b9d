/** The part of vitest's JSON report that is counted. */
export type VitestReport = {
  readonly success: boolean;
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
};

export type Tally = { readonly passed: number; readonly failed: number };

/**
 * Counts a test run. A file that failed without a failed test (it could not be loaded, a hook threw) counts as one
 * failure, and so does a run that failed for any other reason, or that left no report.
 */
export function tallyTests(report: VitestReport | undefined, exitCode: number | null): Tally {
  if (!report) return { passed: 0, failed: 1 };
  const brokenFiles = report.testResults.filter(
    ({ status, assertionResults }) => status === "failed" && assertionResults.every((test) => test.status !== "failed"),
  );
  const failed = report.numFailedTests + brokenFiles.length;
  const failedOtherwise = failed === 0 && (exitCode !== 0 || !report.success);
  return { passed: report.numPassedTests, failed: failedOtherwise ? 1 : failed };
}

/** The line with which a test run ends. */
export function closingLine(tallies: readonly Tally[]): string {
  const sum = (count: (tally: Tally) => number) => tallies.reduce((total, tally) => total + count(tally), 0);
  return `${sum(({ passed }) => passed)} passed, ${sum(({ failed }) => failed)} failed`;
}

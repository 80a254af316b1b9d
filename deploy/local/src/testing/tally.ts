import { stripVTControlCharacters } from "node:util";

const MAX_LINES_PER_FAILURE = 12;
const MAX_FAILURES = 20;

/** The part of vitest's JSON report that is counted. */
type VitestReport = {
  readonly success: boolean;
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    /** The file's path. */
    readonly name: string;
    readonly status: string;
    /** Why the file could not be run. */
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly title: string;
      /** With the titles around it. */
      readonly fullName?: string;
      readonly failureMessages?: readonly string[] | null;
    }[];
  }[];
};

export type Tally = {
  readonly passed: number;
  readonly failed: number;
  readonly skipped?: number;
  /** Why tests were skipped. */
  readonly skippedBecause?: readonly string[];
};

/** A skipped test with this at the start of its title says why the tests around it are skipped. */
const NOT_RUN = "not run: ";

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
  const skipped = report.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status !== "passed" && status !== "failed");
  const reasons = skipped.filter(({ title }) => title.startsWith(NOT_RUN));
  return {
    passed: report.numPassedTests,
    failed: failedOtherwise ? 1 : failed,
    skipped: skipped.length - reasons.length,
    skippedBecause: reasons.map(({ title }) => title.slice(NOT_RUN.length)),
  };
}

/** The first tests and files that failed and why, a few lines each, so that the end of a long log tells it. */
export function failuresOf(report: VitestReport | undefined): readonly string[] {
  const failures = (report?.testResults ?? []).flatMap(({ name, status, message, assertionResults }) => {
    const tests = assertionResults.filter((test) => test.status === "failed");
    const ofTests = tests.map(
      ({ title, fullName = title, failureMessages }) =>
        `FAILED ${name}: ${fullName}\n${firstLines(failureMessages?.join("\n") ?? "")}`,
    );
    const isBroken = status === "failed" && (tests.length === 0 || Boolean(message));
    return isBroken ? [`FAILED ${name}\n${firstLines(message ?? "")}`, ...ofTests] : ofTests;
  });
  return failures.slice(0, MAX_FAILURES);
}

function firstLines(text: string): string {
  return stripVTControlCharacters(text)
    .split("\n")
    .slice(0, MAX_LINES_PER_FAILURE)
    .map((line) => `  ${line}`)
    .join("\n");
}

/** The line with which a test run ends. */
export function closingLine(tallies: readonly Tally[]): string {
  const sum = (count: (tally: Tally) => number) => tallies.reduce((total, tally) => total + count(tally), 0);
  const line = `${sum(({ passed }) => passed)} passed, ${sum(({ failed }) => failed)} failed`;
  const skipped = sum((tally) => tally.skipped ?? 0);
  if (skipped === 0) return line;
  const reasons = tallies.flatMap((tally) => tally.skippedBecause ?? []);
  return `${line}, ${skipped} skipped${reasons.length > 0 ? ` (${reasons.join("; ")})` : ""}`;
}

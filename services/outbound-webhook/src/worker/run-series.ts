import type { Attempt, AttemptResult } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import { isSuccess, SLOW_ATTEMPT_MS } from "../domain/outcome.ts";
import { type AttemptOptions, isTooLate, notMade, runAttempt } from "./run-attempt.ts";

/** What a worker that dies has made but not reported is made again. */
const REPORT_EVERY_MS = 50;

interface SeriesOptions extends AttemptOptions {
  report: (result: AttemptResult) => Promise<void>;
  /** When it fires, the attempts that have not begun are not made. */
  signal: AbortSignal;
}

/**
 * Makes attempts at one endpoint one after the other, until one fails or they have taken as long as a slow one; the others
 * are not made. The first one's result is reported last, because it frees the slot. Resolves once all results are reported, with
 * whether the series came too late and nothing was made or reported.
 */
export async function runSeries(attempts: readonly Attempt[], options: SeriesOptions): Promise<{ tooLate: boolean }> {
  const { report, signal, now } = options;
  const [first] = attempts;
  if (!first || isTooLate(first, now())) return { tooLate: true };
  const beganAtMs = performance.now();
  const reports: Promise<void>[] = [];
  const others: AttemptResult[] = [];
  let firstResult: AttemptResult | undefined;
  let reportedAtMs = beganAtMs;
  let goOn = !signal.aborted;
  for (const attempt of attempts) {
    const result = goOn && !isTooLate(attempt, now()) ? await runAttempt(attempt, options) : notMade(attempt);
    if (attempt === first) firstResult = result;
    else if (result) others.push(result);
    const nowMs = performance.now();
    goOn &&= isSuccess(result?.responseCode ?? 0) && nowMs - beganAtMs < SLOW_ATTEMPT_MS && !signal.aborted;
    if (nowMs - reportedAtMs < REPORT_EVERY_MS) continue;
    reports.push(...others.splice(0).map(report));
    reportedAtMs = nowMs;
  }
  if (firstResult) others.push(firstResult);
  await Promise.all([...reports, ...others.map(report)]);
  return { tooLate: false };
}

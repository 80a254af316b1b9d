import type { RunResponse, Violation } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { isJsonObject } from "@toolgate/rules/json-object";
import type { CallRecord } from "./turn.ts";

/** How a call ended. */
export type CallOutcome = Pick<CallRecord, "status" | "result" | "durationMs" | "suppressed"> & {
  /** The change that it has proposed. */
  proposalId?: string;
};

const MAX_RESULT_CHARACTERS = 64_000;
const MAX_VIOLATIONS = 20;

/** A call that did not reach its tool, and why. The model is told. */
export function notRun(reason: string): CallOutcome {
  return { status: "failed", result: reason, durationMs: 0, suppressed: [] };
}

/** A call that may or may not have taken effect. It is never made again. */
export function unknownOutcome(durationMs: number): CallOutcome {
  const result =
    "This call was interrupted. It may or may not have taken effect, and it was not repeated. Tell the user, and do not call it again unless the user asks.";
  return { status: "unknown", result, durationMs, suppressed: [] };
}

/** What a run's response means for the model. Why a tool failed is for the execution log only. */
export function outcomeOf({ outcome, durationMs, suppressed }: RunResponse): CallOutcome {
  switch (outcome.case) {
    case "resultJson":
      return { status: "succeeded", result: cut(Buffer.from(outcome.value).toString()), durationMs, suppressed };
    case "invalidArguments":
      return notRun(`The tool did not run: ${violationsText(outcome.value.violations)}`);
    case "toolFailed":
      return { status: "failed", result: "The tool failed.", durationMs, suppressed };
    case "outcomeUnknown":
      return unknownOutcome(durationMs);
    default:
      return notRun("The tool is not available.");
  }
}

function violationsText(violations: readonly Violation[]): string {
  return violations
    .slice(0, MAX_VIOLATIONS)
    .map(({ field, message }) => (field === "" ? message : `${field}: ${message}`))
    .join("; ");
}

export function cut(result: string): string {
  if (result.length <= MAX_RESULT_CHARACTERS) return result;
  return `${result.slice(0, MAX_RESULT_CHARACTERS).toWellFormed()}\n[The rest of the result was left out: ${result.length} characters in all.]`;
}

/** The body of a run's request. Undefined when the model's arguments are not a JSON object. */
export function runBody(args: string): Buffer | undefined {
  const text = args.trim() === "" ? "{}" : args;
  try {
    const parsed: unknown = JSON.parse(text);
    return isJsonObject(parsed) ? Buffer.from(`{"args":${text}}`) : undefined;
  } catch {
    return undefined;
  }
}

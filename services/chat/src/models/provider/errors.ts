import { APICallError, InvalidResponseDataError, UnsupportedFunctionalityError } from "@ai-sdk/provider";
import { BodyCut } from "@toolgate/safe-fetch/result";
import { ModelError, type ModelErrorKind } from "../model.ts";
import { errorCodeOf } from "./error-code.ts";
import { kindOfStatus } from "./fetch.ts";

const KINDS_OF_CUTS: Readonly<Record<BodyCut["reason"], ModelErrorKind>> = {
  deadline: "timeout",
  connection: "cut",
  aborted: "cut",
  size: "invalid",
};

/** What went wrong, from an error that the AI SDK threw or passed on in the stream. */
export function toModelError(error: unknown, beforeOutput: boolean): ModelError {
  const fail = (kind: ModelErrorKind, message: string) => new ModelError(kind, message, { beforeOutput });
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth++) {
    if (cause instanceof ModelError) {
      const { kind, message, retryAfterMs, response } = cause;
      return new ModelError(kind, message, { beforeOutput, retryAfterMs, response });
    }
    if (cause instanceof BodyCut)
      return fail(KINDS_OF_CUTS[cause.reason], `the answer is incomplete (${cause.reason})`);
  }
  if (UnsupportedFunctionalityError.isInstance(error))
    return fail("refused", "the model's API does not support this content");
  // This error, without data, means that the stream ended early.
  if (InvalidResponseDataError.isInstance(error) && error.data === undefined)
    return fail("cut", "the answer is incomplete");
  const code = errorCodeOf(APICallError.isInstance(error) ? (error.data ?? parse(error.responseBody)) : error);
  const status = statusOf(error) ?? statusOfCode(code);
  const suffix = code === undefined ? "" : ` (${code})`;
  if (status === undefined || status < 400)
    return fail("invalid", `the model's server sent an unusable answer${suffix}`);
  return fail(kindOfStatus(status), `the model's server reported an error${suffix}`);
}

function statusOf(error: unknown): number | undefined {
  const status = typeof error === "object" && error !== null ? Reflect.get(error, "statusCode") : undefined;
  return typeof status === "number" ? status : undefined;
}

/** Errors in a stream have no status, only words; some servers put the status into them. */
function statusOfCode(code: string | undefined): number | undefined {
  if (code === undefined) return undefined;
  if (/^[45]\d\d$/.test(code)) return Number(code);
  if (/rate.?limit|quota|too_many/i.test(code)) return 429;
  if (/overload|unavailable|capacity/i.test(code)) return 503;
  if (/server|internal|api_error/i.test(code)) return 500;
  return /invalid|context|content|permission|authentication|not_found/i.test(code) ? 400 : undefined;
}

function parse(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
}

import { APICallError, InvalidResponseDataError, UnsupportedFunctionalityError } from "@ai-sdk/provider";
import { BodyCut } from "@toolgate/safe-fetch/result";
import { ModelError, type ModelErrorKind } from "../model.ts";

/** Bytes of an error response that are read. */
const MAX_ERROR_BYTES = 16_384;
/** A code, as opposed to prose, which may repeat parts of the request. */
const CODE = /^[a-z][a-z0-9_.-]{0,63}$/i;

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
      const { kind, message, response } = cause;
      return new ModelError(kind, message, { beforeOutput, ...(response && { response }) });
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

/** What a status means for the caller. */
export function kindOfStatus(status: number): ModelErrorKind {
  if (status === 429) return "rate_limited";
  if (status === 408 || status === 504) return "timeout";
  return status >= 500 ? "overloaded" : "refused";
}

/** The code or type in an error response, such as `model_not_found`. Never rejects. Ends the body. */
export async function readErrorCode(body: ReadableStream<Uint8Array>): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_ERROR_BYTES) return undefined;
    }
    return errorCodeOf(JSON.parse(Buffer.concat(chunks).toString()));
  } catch {
    return undefined;
  }
}

/**
 * The code or type in an error, as OpenAI, Anthropic and others write them. Anthropic, vLLM and Ollama say only in words
 * whether it is the model or the path that is not found.
 */
function errorCodeOf(value: unknown): string | undefined {
  const error = member(value, "error") ?? value;
  const { code, type } = { code: member(error, "code"), type: member(error, "type") };
  if (/not_?found/i.test(String(type)) && /^(the )?model\b/i.test(String(member(error, "message"))))
    return "model_not_found";
  for (const candidate of [code, type]) {
    if (typeof candidate === "string" && CODE.test(candidate)) return candidate;
    if (typeof candidate === "number") return String(candidate);
  }
  return undefined;
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

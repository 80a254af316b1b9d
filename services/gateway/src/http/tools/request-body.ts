import type { IncomingMessage } from "node:http";
import type { Violation } from "../../domain/responses.ts";
import { readBytes } from "../request-bytes.ts";

export const MAX_BODY_BYTES = 1024 * 1024;

/** A body as received; empty when it could not be read, for the reason in `violation`. */
interface RequestBody {
  bytes: Uint8Array;
  violation?: Violation;
}

const MESSAGES = { "too-large": `body larger than ${MAX_BODY_BYTES} bytes`, "cut-short": "body ended too early" };

/** Reads the body of a call of a tool. Never rejects. */
export async function readBody(request: IncomingMessage): Promise<RequestBody> {
  const { bytes, fault } = await readBytes(request, MAX_BODY_BYTES);
  return fault === undefined ? { bytes } : { bytes, violation: { field: "", rule: "body", message: MESSAGES[fault] } };
}

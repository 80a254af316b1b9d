import { equalBytes } from "./constant-time.ts";
import { parseSignatureHeader } from "./parse-header.ts";
import { signatureBytes } from "./sign.ts";

/** How far a signature's time may lie from now, in seconds, in either direction. [AUTH-3] */
export const DEFAULT_TOLERANCE_SECONDS = 300;

const SHA256_HEX = /^[0-9a-fA-F]{64}$/;

/** Why a signature was not accepted. For logs; a sender is told none of it. */
export type VerifyFailure = "malformed" | "outside-tolerance" | "mismatch";

/** The outcome of a verification: data, never an exception. */
export type VerifyResult = { ok: true; unixTime: number } | { ok: false; reason: VerifyFailure };

/**
 * What is verified: the raw body bytes as received, the header's value, and the receiver's clock in Unix seconds.
 */
export type VerifyInput = {
  secret: string;
  header: string;
  body: Uint8Array | string;
  now: number;
  toleranceSeconds?: number;
};

/**
 * Verifies `t=…,v1=…` against the raw body. A time exactly `toleranceSeconds` away passes, in both directions;
 * any one matching `v1` suffices; hex may be in either case. Comparison is in constant time and looks at every
 * `v1`. Never throws. [OUT-26..32, AUTH-1..3]
 */
export function verify(input: VerifyInput): VerifyResult {
  const parsed = parseSignatureHeader(input.header);
  if (!parsed.ok) return parsed;
  const tolerance = input.toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS;
  const deviation = Math.abs(input.now - parsed.unixTime);
  if (!(deviation <= tolerance)) return { ok: false, reason: "outside-tolerance" };
  const expected = signatureBytes(input.secret, parsed.timeText, input.body);
  let matches = false;
  for (const candidate of parsed.v1) {
    if (SHA256_HEX.test(candidate) && equalBytes(Buffer.from(candidate, "hex"), expected)) matches = true;
  }
  return matches ? { ok: true, unixTime: parsed.unixTime } : { ok: false, reason: "mismatch" };
}

import { parseUnixTime } from "./parse-header.ts";
import { readSignatureHeaders, type SignatureHeaders, type SignatureScheme } from "./read-headers.ts";
import { correctSigning, hmacOf, mistakenSignings, type SignatureMistake } from "./signing-mistakes.ts";
import { DEFAULT_TOLERANCE_SECONDS, equalBytes } from "./verify.ts";

/** Largest body that callers may have diagnosed, in bytes. */
export const MAX_DIAGNOSED_BYTES = 256 * 1024;

/** At most this many bytes are hashed for one diagnosis. */
const MAX_HASHED_BYTES = 16 * 1024 * 1024;

/** The endpoint's secret, what the receiver got, and its clock in Unix seconds. */
export type DiagnoseInput = {
  secret: string;
  headers: string;
  body: Uint8Array;
  receivedAt: number;
  /** The bytes that were really sent, when they are known. */
  sentBody?: Uint8Array;
  /** Signature times of the delivery's attempts, in Unix seconds. */
  attemptTimes?: readonly number[];
};

/** What was found about each part. Contains nothing computed with the secret, only whether it is equal. */
export type Diagnosis = {
  scheme: SignatureScheme | undefined;
  /** Which part of the headers is malformed; empty when none is. */
  headerFault: string;
  /** The signature's time in Unix seconds; undefined when there is none that can be read. */
  signedAt: number | undefined;
  timeWithinTolerance: boolean;
  /** Receipt minus `signedAt`, in whole seconds; 0 when `signedAt` is undefined. */
  secondsOff: number;
  matches: boolean;
  mistakes: SignatureMistake[];
  /** Where the body first differs from the sent one; undefined when it does not or the sent one is unknown. */
  bodyDiffersAt: number | undefined;
};

/**
 * Checks each part of a signature and names the one or two usual mistakes that explain a wrong one. Never throws. The
 * caller checks that the body has at most `MAX_DIAGNOSED_BYTES` and the headers at most `MAX_HEADER_TEXT_CHARS`.
 *
 * It cannot be used to forge signatures: it says only whether a signature that the caller already has is right. A guess
 * is compared with a few hundred candidates out of 2^256, in constant time, and the work per diagnosis is bounded.
 */
export function diagnose(input: DiagnoseInput): Diagnosis {
  const body = Buffer.from(input.body);
  const sent = input.sentBody && Buffer.from(input.sentBody);
  const headers = readSignatureHeaders(input.headers);
  const signedAt = parseUnixTime(headers.timeText);
  const secondsOff = signedAt === undefined ? 0 : Math.floor(input.receivedAt) - signedAt;
  const diagnosis: Diagnosis = {
    scheme: headers.scheme,
    headerFault: headers.fault,
    signedAt,
    timeWithinTolerance: signedAt !== undefined && Math.abs(secondsOff) <= DEFAULT_TOLERANCE_SECONDS,
    secondsOff,
    matches: false,
    mistakes: [],
    bodyDiffersAt: sent && !sent.equals(body) ? firstDifference(sent, body) : undefined,
  };
  const correct = headers.fault === "" ? correctSigning(headers, input.secret, body) : undefined;
  if (!correct) return diagnosis;
  const digests = digestsOf(headers);
  const expected = hmacOf(correct);
  const matching = digests.filter(({ digest }) => equalBytes(digest, expected));
  if (matching.some(({ form }) => form === headers.scheme)) return { ...diagnosis, matches: true };
  if (matching.length > 0) return { ...diagnosis, mistakes: ["digest-form"] };
  let hashedBytes = 0;
  for (const signing of mistakenSignings(headers, correct, {
    secret: input.secret,
    attemptTimes: input.attemptTimes ?? [],
    sent,
  })) {
    hashedBytes += signing.body.length;
    if (hashedBytes > MAX_HASHED_BYTES) break;
    const made = hmacOf(signing);
    if (digests.some(({ digest }) => equalBytes(digest, made))) return { ...diagnosis, mistakes: signing.mistakes };
  }
  return diagnosis;
}

type Digest = { digest: Buffer; form: SignatureScheme };

function digestsOf({ signatures }: SignatureHeaders): Digest[] {
  return signatures.map((text): Digest => {
    const isHex = /^[0-9a-fA-F]{64}$/.test(text);
    return isHex
      ? { digest: Buffer.from(text, "hex"), form: "service" }
      : { digest: Buffer.from(text, "base64"), form: "standard" };
  });
}

function firstDifference(left: Buffer, right: Buffer): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at += 1) if (left[at] !== right[at]) return at;
  return length;
}

import { equalBytes } from "./constant-time.ts";
import { MAX_TIME_DIGITS } from "./parse-header.ts";
import { readSignatureHeaders, type SignatureHeaders, type SignatureScheme } from "./read-headers.ts";
import { hmacOf, type Recipe, recipesFor, rightRecipe, type SignatureMistake } from "./signature-recipes.ts";
import { DEFAULT_TOLERANCE_SECONDS } from "./verify.ts";

/** Largest body that is diagnosed, in bytes. */
export const MAX_DIAGNOSED_BYTES = 256 * 1024;

/** Bytes hashed for one diagnosis at most: the process has other things to do. */
const MAX_HASHED_BYTES = 16 * 1024 * 1024;

/** What is looked into: the endpoint's secret, what the receiver got, and its clock in Unix seconds. */
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

/** Every part on its own. Holds nothing that was computed with the secret, only whether it is equal. */
export type Diagnosis = {
  scheme: SignatureScheme | undefined;
  /** Which part of the headers is not well-formed; empty when all are. */
  headerFault: string;
  /** The signature's time in Unix seconds; undefined when there is none, or one of more than MAX_TIME_DIGITS digits. */
  signedAt: number | undefined;
  timeWithinTolerance: boolean;
  /** Receipt minus `signedAt`, in whole seconds; 0 when there is no such time. */
  secondsOff: number;
  matches: boolean;
  mistakes: SignatureMistake[];
  /** Where the body first differs from the sent one; undefined when it does not, or that is not known. */
  bodyDiffersAt: number | undefined;
};

/**
 * Takes a signature apart and names the usual mistake, or the two, that it was made with. Throws a RangeError for a body
 * over MAX_DIAGNOSED_BYTES; anything else is an answer.
 *
 * It is no oracle: it answers whether a signature that the caller already has is right, and never with one. A guess is
 * right with a chance of some hundred in 2^256, as many recipes are tried; the comparison takes the same time wherever
 * the difference is. So nobody comes to a signature by asking, however often, and the work of one answer is bounded.
 */
export function diagnose(input: DiagnoseInput): Diagnosis {
  if (input.body.length > MAX_DIAGNOSED_BYTES) throw new RangeError("the body is over 256 KB");
  const body = Buffer.from(input.body);
  const sent = input.sentBody && Buffer.from(input.sentBody);
  const headers = readSignatureHeaders(input.headers);
  const signedAt = unixTimeOf(headers);
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
  const right = headers.fault === "" ? rightRecipe(headers, input.secret, body) : undefined;
  if (!right) return diagnosis;
  const digests = digestsOf(headers);
  if (digests.some(({ digest }) => equalBytes(digest, hmacOf(right)))) {
    const wellFormed = digests.some(({ digest, form }) => form === headers.scheme && equalBytes(digest, hmacOf(right)));
    return { ...diagnosis, matches: wellFormed, mistakes: wellFormed ? [] : ["digest-form"] };
  }
  const found = firstMatch(
    recipesFor(headers, right, { secret: input.secret, attemptTimes: input.attemptTimes ?? [], sent }),
    digests,
  );
  return { ...diagnosis, mistakes: found?.mistakes ?? [] };
}

function unixTimeOf({ timeText }: SignatureHeaders): number | undefined {
  return timeText.length <= MAX_TIME_DIGITS && /^[0-9]+$/.test(timeText) ? Number(timeText) : undefined;
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

function firstMatch(recipes: Iterable<Recipe>, digests: readonly Digest[]): Recipe | undefined {
  let hashed = 0;
  for (const recipe of recipes) {
    hashed += recipe.body.length;
    if (hashed > MAX_HASHED_BYTES) return undefined;
    const made = hmacOf(recipe);
    if (digests.some(({ digest }) => equalBytes(digest, made))) return recipe;
  }
  return undefined;
}

function firstDifference(left: Buffer, right: Buffer): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at += 1) if (left[at] !== right[at]) return at;
  return length;
}

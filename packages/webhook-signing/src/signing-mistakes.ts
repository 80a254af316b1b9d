import { createHmac } from "node:crypto";
import { type BodyMistake, changedBodies, isSameJson } from "./changed-bodies.ts";
import type { SignatureHeaders } from "./read-headers.ts";
import { decodeSecret, SECRET_PREFIX } from "./secret.ts";

/** Times of other attempts that are tried. */
const MAX_OTHER_TIMES = 6;

/** What explains a signature that does not match. */
export type SignatureMistake =
  | BodyMistake
  | "key-without-prefix"
  | "key-decoded"
  | "key-not-decoded"
  | "time-not-signed"
  | "separator"
  | "other-scheme"
  | "time-of-other-attempt"
  | "digest-form";

/** What a signature is computed from: HMAC-SHA256 with `key` over `prefix` and `body`. */
type Signing = { key: string | Buffer; prefix: string; body: Buffer };

/** A signing, or the parts of one that were done wrong, with the names of the mistakes. */
type Mistaken = Partial<Signing> & { mistakes: SignatureMistake[] };

/** How a correct signature of the scheme is made; undefined when the secret does not have the form that it needs. */
export function correctSigning(
  { scheme, id, timeText }: SignatureHeaders,
  secret: string,
  body: Buffer,
): Signing | undefined {
  const key = scheme === "standard" ? decodeSecret(secret) : secret;
  const prefix = scheme === "standard" ? `${id}.${timeText}.` : `${timeText}.`;
  return key === undefined ? undefined : { key, prefix, body };
}

/**
 * The ways in which a wrong signature may have been made: single mistakes first, then two together, because the
 * simplest explanation is the one to name. `attemptTimes` are other times in Unix seconds, `sent` the body that was
 * really sent.
 */
export function* mistakenSignings(
  headers: SignatureHeaders,
  correct: Signing,
  { secret, attemptTimes, sent }: { secret: string; attemptTimes: readonly number[]; sent: Buffer | undefined },
): Generator<Signing & Mistaken> {
  const bodies = wrongBodies(correct.body, sent);
  const keys = wrongKeys(headers, secret);
  const prefixes = wrongPrefixes(headers, attemptTimes);
  for (const change of [...bodies, ...keys, ...prefixes]) yield { ...correct, ...change };
  for (const [first, second] of [...pairs(bodies, keys), ...pairs(keys, prefixes), ...pairs(bodies, prefixes)]) {
    yield { ...correct, ...first, ...second, mistakes: [...first.mistakes, ...second.mistakes] };
  }
}

function pairs(left: readonly Mistaken[], right: readonly Mistaken[]): [Mistaken, Mistaken][] {
  return left.flatMap((first) => right.map((second): [Mistaken, Mistaken] => [first, second]));
}

function wrongBodies(body: Buffer, sent: Buffer | undefined): Mistaken[] {
  const changes: Mistaken[] = changedBodies(body).map(({ mistake, body }) => ({ mistakes: [mistake], body }));
  if (sent && !sent.equals(body)) {
    changes.push({ mistakes: [isSameJson(sent, body) ? "body-reserialised" : "other-body"], body: sent });
  }
  return changes;
}

function wrongKeys({ scheme }: SignatureHeaders, secret: string): Mistaken[] {
  const changes: Mistaken[] = [];
  const decoded = decodeSecret(secret);
  if (secret.startsWith(SECRET_PREFIX)) {
    changes.push({ mistakes: ["key-without-prefix"], key: secret.slice(SECRET_PREFIX.length) });
  }
  if (scheme === "service" && decoded) changes.push({ mistakes: ["key-decoded"], key: decoded });
  if (scheme === "standard") changes.push({ mistakes: ["key-not-decoded"], key: secret });
  return changes;
}

function wrongPrefixes(
  { scheme, id, timeText, deliveryId }: SignatureHeaders,
  attemptTimes: readonly number[],
): Mistaken[] {
  const isStandard = scheme === "standard";
  const idPrefix = isStandard ? `${id}.` : "";
  const parts = isStandard ? [id, timeText] : [timeText];
  const changes: Mistaken[] = [{ mistakes: ["time-not-signed"], prefix: idPrefix }];
  for (const separator of ["", ":", ",", "\n", "-", "|", " "]) {
    changes.push({ mistakes: ["separator"], prefix: parts.map((part) => part + separator).join("") });
  }
  changes.push({ mistakes: ["separator"], prefix: `t=${timeText}.` });
  if (isStandard) changes.push({ mistakes: ["time-not-signed"], prefix: "" });
  const otherPrefix = isStandard ? `${timeText}.` : `${deliveryId}.${timeText}.`;
  if (deliveryId !== "") changes.push({ mistakes: ["other-scheme"], prefix: otherPrefix });
  for (const time of attemptTimes.slice(0, MAX_OTHER_TIMES)) {
    if (String(time) === timeText) continue;
    changes.push({ mistakes: ["time-of-other-attempt"], prefix: `${idPrefix}${time}.` });
  }
  return changes;
}

/** The 32 bytes of the signature. */
export function hmacOf({ key, prefix, body }: Signing): Buffer {
  return createHmac("sha256", key).update(prefix).update(body).digest();
}

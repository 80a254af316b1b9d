import { createHmac } from "node:crypto";
import { type BodyMistake, bodyVariants, isSameJson } from "./body-variants.ts";
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

/** A way to come to a signature: HMAC-SHA256 with `key` over `prefix` and `body`, and the mistakes in it. */
export type Recipe = { mistakes: SignatureMistake[]; key: string | Buffer; prefix: string; body: Buffer };

/** How a right signature of the scheme is made; undefined when the secret has not the form that the scheme needs. */
export function rightRecipe(
  { scheme, id, timeText }: SignatureHeaders,
  secret: string,
  body: Buffer,
): Recipe | undefined {
  const key = scheme === "standard" ? decodeSecret(secret) : secret;
  const prefix = scheme === "standard" ? `${id}.${timeText}.` : `${timeText}.`;
  return key === undefined ? undefined : { mistakes: [], key, prefix, body };
}

/**
 * The ways in which a wrong signature may have been made, single mistakes first, then two at once: the simplest
 * explanation is the one to name. `attemptTimes` are other times in Unix seconds, `sent` the body that was really sent.
 */
export function* recipesFor(
  headers: SignatureHeaders,
  right: Recipe,
  { secret, attemptTimes, sent }: { secret: string; attemptTimes: readonly number[]; sent: Buffer | undefined },
): Generator<Recipe> {
  const bodies = bodyRecipes(right.body, sent);
  const keys = keyRecipes(headers, secret);
  const prefixes = prefixRecipes(headers, attemptTimes);
  for (const change of [...bodies, ...keys, ...prefixes]) yield { ...right, ...change };
  for (const [first, second] of [...pairs(bodies, keys), ...pairs(keys, prefixes), ...pairs(bodies, prefixes)]) {
    yield { ...right, ...first, ...second, mistakes: [...first.mistakes, ...second.mistakes] };
  }
}

type Change = Partial<Recipe> & Pick<Recipe, "mistakes">;

function pairs(left: readonly Change[], right: readonly Change[]): [Change, Change][] {
  return left.flatMap((first) => right.map((second): [Change, Change] => [first, second]));
}

function bodyRecipes(body: Buffer, sent: Buffer | undefined): Change[] {
  const changes: Change[] = bodyVariants(body).map(({ mistake, body }) => ({ mistakes: [mistake], body }));
  if (sent && !sent.equals(body)) {
    changes.push({ mistakes: [isSameJson(sent, body) ? "body-reserialised" : "other-body"], body: sent });
  }
  return changes;
}

function keyRecipes({ scheme }: SignatureHeaders, secret: string): Change[] {
  const changes: Change[] = [];
  const decoded = decodeSecret(secret);
  if (secret.startsWith(SECRET_PREFIX)) {
    changes.push({ mistakes: ["key-without-prefix"], key: secret.slice(SECRET_PREFIX.length) });
  }
  if (scheme === "service" && decoded) changes.push({ mistakes: ["key-decoded"], key: decoded });
  if (scheme === "standard") changes.push({ mistakes: ["key-not-decoded"], key: secret });
  return changes;
}

function prefixRecipes(
  { scheme, id, timeText, deliveryId }: SignatureHeaders,
  attemptTimes: readonly number[],
): Change[] {
  const parts = scheme === "standard" ? [id, timeText] : [timeText];
  const changes: Change[] = [
    { mistakes: ["time-not-signed"], prefix: scheme === "standard" ? `${id}.` : "" },
    ...["", ":", ",", "\n", "-", "|", " "].map(
      (separator): Change => ({ mistakes: ["separator"], prefix: parts.map((part) => part + separator).join("") }),
    ),
    { mistakes: ["separator"], prefix: `t=${timeText}.` },
  ];
  if (scheme === "standard") changes.push({ mistakes: ["time-not-signed"], prefix: "" });
  const otherPrefix = scheme === "standard" ? `${timeText}.` : `${deliveryId}.${timeText}.`;
  if (deliveryId !== "") changes.push({ mistakes: ["other-scheme"], prefix: otherPrefix });
  for (const time of attemptTimes.slice(0, MAX_OTHER_TIMES)) {
    if (String(time) === timeText) continue;
    changes.push({
      mistakes: ["time-of-other-attempt"],
      prefix: scheme === "standard" ? `${id}.${time}.` : `${time}.`,
    });
  }
  return changes;
}

/** The 32 bytes that a recipe leads to. */
export function hmacOf({ key, prefix, body }: Recipe): Buffer {
  return createHmac("sha256", key).update(prefix).update(body).digest();
}

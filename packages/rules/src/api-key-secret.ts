import { createHash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

/** [KEY-14] Every secret of an API key starts with this. */
export const SECRET_PREFIX = "svc_live_";

const RANDOM_BYTES = 32;
const RANDOM_CHARACTERS = 43;
const CHECK_CHARACTERS = 6;
const VISIBLE_CHARACTERS = 6;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const FORM = new RegExp(`^${SECRET_PREFIX}[0-9A-Za-z]{${RANDOM_CHARACTERS + CHECK_CHARACTERS}}$`);

function base62(value: bigint, length: number): string {
  const base = BigInt(ALPHABET.length);
  let rest = value;
  let text = "";
  for (let index = 0; index < length; index += 1) {
    text = ALPHABET[Number(rest % base)] + text;
    rest /= base;
  }
  return text;
}

function checkDigits(random: string): string {
  return base62(BigInt(crc32(random)), CHECK_CHARACTERS);
}

/** A new secret: the prefix, 32 random bytes in base 62, and check digits over them. */
export function generateSecret(): string {
  const random = base62(BigInt(`0x${randomBytes(RANDOM_BYTES).toString("hex")}`), RANDOM_CHARACTERS);
  return SECRET_PREFIX + random + checkDigits(random);
}

/** Whether a string is a well-formed secret. Rejects garbage and typing errors without a lookup. */
export function isWellFormed(secret: string): boolean {
  if (!FORM.test(secret)) return false;
  const random = secret.slice(SECRET_PREFIX.length, -CHECK_CHARACTERS);
  return secret.endsWith(checkDigits(random));
}

/** [KEY-16] What is stored and compared instead of the secret: SHA-256 over all of it, 32 bytes. */
export function hashSecret(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

/** [KEY-7] The visible part of a secret. */
export function visiblePrefix(secret: string): string {
  return secret.slice(0, SECRET_PREFIX.length + VISIBLE_CHARACTERS);
}

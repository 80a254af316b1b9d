import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";

const COST = 2 ** 15;
const BLOCK_SIZE = 8;
const PARALLELIZATION = 1;
const MAX_MEMORY_BYTES = 64 * 1024 * 1024;
const SALT_BYTES = 16;
const HASH_BYTES = 32;

const MIN_PASSWORD_CHARACTERS = 8;
export const MAX_PASSWORD_CHARACTERS = 1_000;

/** What a new password must have but does not; undefined if it is fine. */
export function passwordFault(password: string): string | undefined {
  if ([...password].length < MIN_PASSWORD_CHARACTERS) return `at least ${MIN_PASSWORD_CHARACTERS} characters`;
  return password.length > MAX_PASSWORD_CHARACTERS ? `at most ${MAX_PASSWORD_CHARACTERS} characters` : undefined;
}

function derive(password: string, salt: Buffer, cost: number): Promise<Buffer> {
  const options = { N: cost, r: BLOCK_SIZE, p: PARALLELIZATION, maxmem: MAX_MEMORY_BYTES };
  return new Promise((resolve, reject) => {
    scrypt(password.normalize("NFKC"), salt, HASH_BYTES, options, (error, hash) =>
      error ? reject(error) : resolve(hash),
    );
  });
}

/** scrypt$<cost>$<salt>$<hash>, with salt and hash in base64. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, COST);
  return `scrypt$${COST}$${salt.toString("base64")}$${hash.toString("base64")}`;
}

/** Pass undefined for an unknown user, which takes as long as a wrong password. */
export async function passwordMatches(password: string, stored: string | undefined): Promise<boolean> {
  const [, cost = String(COST), salt = "", hash = ""] = stored?.split("$") ?? [];
  const derived = await derive(password, Buffer.from(salt, "base64"), Number(cost));
  const expected = Buffer.from(hash, "base64");
  return expected.length === HASH_BYTES && timingSafeEqual(derived, expected);
}

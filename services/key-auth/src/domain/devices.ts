import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import type { SealingKey } from "@toolgate/secret-box/secret-box";

/** Accounts that one device may be known to. A token has one entry for each. */
const MAX_ENTRIES = 4;
const NONCE_BYTES = 16;
const TIME_BYTES = 6;
const MAC_BYTES = 32;
const ENTRY_BYTES = NONCE_BYTES + TIME_BYTES + MAC_BYTES;
const PURPOSE = "toolgate device 1";
/** A device stays known for this time after its last login. */
export const DEVICE_MS = 90 * 86_400_000;

/**
 * The tokens by which devices are recognised that have logged in to an account before (OWASP calls them device cookies).
 * A token contains random numbers, times and codes (HMAC-SHA-256); only whoever has a sealing key can tell for which account.
 */
export interface Devices {
  /** A name for the device, if it has logged in to the account; undefined for any other token. */
  find(account: string, token: string): string | undefined;
  /** A new token after a login. It replaces the account's entry in `token`, and keeps those of other accounts. */
  renew(account: string, token: string): string;
}

/** The newest sealing key signs, and all of them verify. */
export function createDevices({ keys, now }: { keys: readonly SealingKey[]; now: () => number }): Devices {
  const macKeys = keys
    .toSorted((a, b) => b.version - a.version)
    .map(({ key }) => Buffer.from(hkdfSync("sha256", key, "", PURPOSE, MAC_BYTES)));
  const macOf = (key: Buffer | undefined, account: string, body: Buffer) =>
    createHmac("sha256", key ?? "")
      .update(`${account}\n`)
      .update(body)
      .digest();

  function isOf(account: string, entry: Buffer): boolean {
    const body = entry.subarray(0, NONCE_BYTES + TIME_BYTES);
    const mac = entry.subarray(body.length);
    if (!macKeys.some((key) => timingSafeEqual(mac, macOf(key, account, body)))) return false;
    return body.readUIntBE(NONCE_BYTES, TIME_BYTES) > now() - DEVICE_MS;
  }

  return {
    find(account, token) {
      const found = entriesOf(token).find((entry) => isOf(account, entry));
      return found?.subarray(0, NONCE_BYTES).toString("hex");
    },
    renew(account, token) {
      const body = Buffer.concat([randomBytes(NONCE_BYTES), Buffer.alloc(TIME_BYTES)]);
      body.writeUIntBE(now(), NONCE_BYTES, TIME_BYTES);
      const others = entriesOf(token).filter((entry) => !isOf(account, entry));
      const entries = [Buffer.concat([body, macOf(macKeys[0], account, body)]), ...others.slice(0, MAX_ENTRIES - 1)];
      return Buffer.concat(entries).toString("base64url");
    },
  };
}

function entriesOf(token: string): Buffer[] {
  if (token.length > Math.ceil((MAX_ENTRIES * ENTRY_BYTES * 4) / 3)) return [];
  const bytes = Buffer.from(token, "base64url");
  const entries: Buffer[] = [];
  for (let start = 0; start + ENTRY_BYTES <= bytes.length; start += ENTRY_BYTES) {
    entries.push(bytes.subarray(start, start + ENTRY_BYTES));
  }
  return entries;
}

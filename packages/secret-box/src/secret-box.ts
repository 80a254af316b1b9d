import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from "node:crypto";

/** Encrypts secrets that have to be read again (webhook secrets, data source URLs). */
export interface SecretBox {
  /**
   * Seals with the newest key. `context` names what the secret belongs to, such as "endpoint:12"; a sealed value copied
   * to another row does not open there.
   */
  seal(plain: string, context: string): Buffer;
  /** Opens a secret sealed with any of the keys. Throws when the key is missing or the sealed bytes were changed. */
  open(sealed: Uint8Array, context: string): string;
}

/** A sealing key: 32 bytes, and the version that prefixes every secret sealed with it. */
export interface SealingKey {
  version: number;
  key: Buffer;
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const MAX_VERSION = 255;

/**
 * AES-256-GCM under versioned keys. Layout: version (1 byte), nonce (12), tag (16), ciphertext. The highest version
 * seals; older ones only open, so keys can be replaced without re-encrypting everything together.
 */
export function createSecretBox({ keys }: { keys: readonly SealingKey[] }): SecretBox {
  for (const { version, key } of keys) {
    if (!Number.isInteger(version) || version < 1 || version > MAX_VERSION)
      throw new Error("a sealing key's version must be 1 to 255");
    if (key.length !== KEY_BYTES) throw new Error(`sealing key ${version} must be ${KEY_BYTES} bytes`);
  }
  // With a plain buffer, Node would take four times as long to open a secret.
  const byVersion = new Map(keys.map(({ version, key }) => [version, createSecretKey(key)]));
  const newest = Math.max(...byVersion.keys());
  const newestKey = byVersion.get(newest);
  if (!newestKey) throw new Error("at least one sealing key is needed");
  return {
    seal(plain, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", newestKey, nonce).setAAD(Buffer.from(context));
      const sealed = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
      return Buffer.concat([Buffer.of(newest), nonce, cipher.getAuthTag(), sealed]);
    },
    open(sealed, context) {
      const version = sealed[0] ?? 0;
      const key = byVersion.get(version);
      if (!key) throw new Error(`no sealing key of version ${version}`);
      const tagStart = 1 + NONCE_BYTES;
      const textStart = tagStart + TAG_BYTES;
      const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(1, tagStart))
        .setAAD(Buffer.from(context))
        .setAuthTag(sealed.subarray(tagStart, textStart));
      return Buffer.concat([decipher.update(sealed.subarray(textStart)), decipher.final()]).toString("utf8");
    },
  };
}

/**
 * Reads keys as an operator writes them: "2:<base64>,1:<base64>", each 32 bytes.
 * Throws with the position of what is wrong, never with the key.
 */
export function parseSealingKeys(text: string): SealingKey[] {
  return text.split(",").map((part, index) => {
    const [, version, key] = /^\s*(\d+):([A-Za-z0-9+/]+=*)\s*$/.exec(part) ?? [];
    if (!version || !key) throw new Error(`sealing key ${index + 1} is not of the form <version>:<base64>`);
    return { version: Number(version), key: Buffer.from(key, "base64") };
  });
}

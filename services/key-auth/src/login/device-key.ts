import { randomBytes } from "node:crypto";
import type { Pool } from "@toolgate/postgres/pool";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import { findDeviceKey, storeDeviceKey } from "../store/device-key.ts";

const KEY_BYTES = 32;
const CONTEXT = "device-key";

/** The key of the installation, the same on every replica; made at the first start. */
export async function loadDeviceKey(pool: Pool, box: SecretBox): Promise<Buffer> {
  const found = await findDeviceKey(pool);
  const opened = found && open(box, found);
  if (opened) return opened;
  // Without the sealing key, a new one costs less than no start: devices are unknown until their next login.
  await storeDeviceKey(pool, box.seal(randomBytes(KEY_BYTES).toString("base64"), CONTEXT), found);
  const stored = await findDeviceKey(pool);
  if (!stored) throw new Error("the key of devices was deleted during the start");
  return Buffer.from(box.open(stored, CONTEXT), "base64");
}

function open(box: SecretBox, sealed: Buffer): Buffer | undefined {
  try {
    return Buffer.from(box.open(sealed, CONTEXT), "base64");
  } catch {
    return undefined;
  }
}

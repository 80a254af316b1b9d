import { randomUUID } from "node:crypto";
import { v7 } from "uuid";

/** A UUID of version 7. Its random part comes from `randomUUID`, which is much faster because it caches random bytes. */
export function newExecutionId(): string {
  return v7({ random: Buffer.from(randomUUID().replaceAll("-", ""), "hex") });
}

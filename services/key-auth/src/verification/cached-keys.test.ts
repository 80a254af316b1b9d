import { expect, test } from "vitest";
import type { VerificationRow } from "../store/verification.ts";
import { createCachedKeys } from "./cached-keys.ts";

const TOOLS = Array.from({ length: 500 }, (_, n) => `tool_with_a_long_name_${n}`);

function row(secretHash: Uint8Array): VerificationRow {
  return {
    secretHash: Buffer.from(secretHash),
    secretValidUntil: null,
    keyId: "1",
    keyName: "key",
    tools: TOOLS,
    limit: 60,
    allowedNetworks: [],
    expiresAt: null,
    revokedAt: null,
    workspaceId: "w",
    workspace: "acme",
    workspaceLocked: false,
  };
}

test("[KEY-21] keys are kept by what they weigh: long lists of tools put the keys out that were unused for longest", async () => {
  const cached = createCachedKeys(
    async (hash) => row(hash),
    () => 0,
    { maxBytes: 1024 * 1024 },
  );
  const hashes = Array.from({ length: 100 }, (_, n) => Buffer.alloc(32, n));
  for (const hash of hashes) await cached.load(hash, undefined);
  const kept = hashes.filter((hash) => cached.get(hash) !== undefined);
  expect(kept.length).toBeGreaterThan(5);
  expect(kept.length).toBeLessThan(50);
  expect(kept).toEqual(hashes.slice(-kept.length));
});

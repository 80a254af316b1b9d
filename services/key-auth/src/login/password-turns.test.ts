import { Code } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { createPasswordTurns, HASHES_AT_ONCE, MAX_WAITING } from "./password-turns.ts";

test("[MGMT-4] few passwords are hashed at once, and what is too much is refused instead of kept", async () => {
  const inTurn = createPasswordTurns();
  const hashing = Promise.withResolvers<void>();
  let [begun, ended] = [0, 0];
  const attempts = Array.from({ length: HASHES_AT_ONCE + MAX_WAITING + 1 }, () =>
    inTurn(async () => {
      begun += 1;
      await hashing.promise;
      ended += 1;
    }),
  );
  await expect(attempts.at(-1)).rejects.toMatchObject({ code: Code.ResourceExhausted });
  expect(begun).toBe(HASHES_AT_ONCE);
  hashing.resolve();
  await Promise.allSettled(attempts);
  expect(ended).toBe(HASHES_AT_ONCE + MAX_WAITING);
});

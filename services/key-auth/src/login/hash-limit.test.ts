import { Code } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { CONCURRENT_HASHES, createHashLimit, MAX_WAITING } from "./hash-limit.ts";

test("[MGMT-4] a few passwords are hashed at the same time, and logins are refused when too many wait", async () => {
  const limitHashing = createHashLimit();
  const hashing = Promise.withResolvers<void>();
  let [started, ended] = [0, 0];
  const attempts = Array.from({ length: CONCURRENT_HASHES + MAX_WAITING + 1 }, () =>
    limitHashing(async () => {
      started += 1;
      await hashing.promise;
      ended += 1;
    }),
  );
  await expect(attempts.at(-1)).rejects.toMatchObject({ code: Code.ResourceExhausted });
  expect(started).toBe(CONCURRENT_HASHES);
  hashing.resolve();
  await Promise.allSettled(attempts);
  expect(ended).toBe(CONCURRENT_HASHES + MAX_WAITING);
});

import { expect, test } from "vitest";
import { hashPassword, passwordMatches } from "./password.ts";

test("[MGMT-4] a password matches only its own hash, and no password matches an unknown user", async () => {
  const stored = await hashPassword("correct horse");
  expect(stored).not.toContain("correct");
  expect(await passwordMatches("correct horse", stored)).toBe(true);
  expect(await passwordMatches("correct horsf", stored)).toBe(false);
  expect(await passwordMatches("", undefined)).toBe(false);
});

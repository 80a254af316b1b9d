import { expect, test } from "vitest";
import { readIdempotencyKey } from "./request-headers.ts";

test("[ERR-1] an Idempotency-Key has 1 to 255 visible characters; a violation does not repeat it", () => {
  for (const good of ["a", "!~", '"8e03978e-40d5"', "x".repeat(255)]) {
    expect(readIdempotencyKey(good)).toEqual({ key: good });
  }
  expect(readIdempotencyKey(undefined)).toEqual({ key: "" });
  for (const bad of ["", "a b", "a, b", "\u00e4", "\u0000", "x".repeat(256), ["a", "b"]]) {
    const read = readIdempotencyKey(bad);
    expect(read).toMatchObject({ key: "", violation: { field: "Idempotency-Key" } });
    if (bad !== "" && typeof bad === "string") expect(JSON.stringify(read)).not.toContain(bad);
  }
});

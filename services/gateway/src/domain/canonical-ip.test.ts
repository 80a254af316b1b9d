import { expect, test } from "vitest";
import { canonicalIp } from "./canonical-ip.ts";

test("[LOG] an address has one form, whichever way it came in", () => {
  expect(canonicalIp("::ffff:203.0.113.9")).toBe("203.0.113.9");
  expect(canonicalIp("2001:DB8:0:0::1")).toBe("2001:db8::1");
  expect(canonicalIp("not an address")).toBe("");
});

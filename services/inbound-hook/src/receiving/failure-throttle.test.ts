import { expect, test } from "vitest";
import { createFailureThrottle, MAX_FAILURES_PER_MINUTE } from "./failure-throttle.ts";

function rig() {
  const clock = { nowMs: 1_780_000_020_000 };
  const throttle = createFailureThrottle(() => clock.nowMs);
  const fail = (ip: string, times = 1) => {
    let last: number | undefined;
    for (let call = 0; call < times; call += 1) last = throttle.countFailure(ip);
    return last;
  };
  return { clock, fail };
}

test("[IN] an address that fails too often in a minute has to wait for the next one", () => {
  const { clock, fail } = rig();
  expect(fail("192.0.2.1", MAX_FAILURES_PER_MINUTE)).toBeUndefined();
  const wait = 60 - ((clock.nowMs / 1000) % 60);
  expect(fail("192.0.2.1")).toBe(wait);
  expect(fail("192.0.2.2")).toBeUndefined();
  clock.nowMs += wait * 1000 - 1;
  expect(fail("192.0.2.1")).toBe(1);
  clock.nowMs += 1;
  expect(fail("192.0.2.1")).toBeUndefined();
});

test("[IN] IPv6 addresses count by their /64", () => {
  const { fail } = rig();
  for (let host = 0; host < MAX_FAILURES_PER_MINUTE; host += 1) fail(`2001:db8:0:1:${host.toString(16)}::`);
  expect(fail("2001:db8:0:1:ffff:ffff:ffff:ffff")).toBeGreaterThan(0);
  expect(fail("2001:db8:0:2::1")).toBeUndefined();
});

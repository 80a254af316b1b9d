import { expect, test } from "vitest";
import { createBodyBudget } from "./body-budget.ts";

test("[IN] all senders together, and each address, keep at most their share", () => {
  const budget = createBodyBudget({ total: 10_000, perClient: 4_000 });
  const take = (ip: string, bytes: number) => budget.open(ip).take(bytes);
  expect(take("192.0.2.1", 3_000)).toBe(true);
  expect(take("192.0.2.1", 1_000)).toBe(false);
  expect(take("192.0.2.2", 3_000)).toBe(true);
  expect(take("192.0.2.3", 3_500)).toBe(false);
  expect(take("192.0.2.3", 3_000)).toBe(true);
});

test("[IN] an IPv6 /64 is one address", () => {
  const budget = createBodyBudget({ total: 10_000, perClient: 1_500 });
  expect(budget.open("2001:db8:0:1::1").take(1_000)).toBe(true);
  expect(budget.open("2001:db8:0:1:ffff::2").take(1_000)).toBe(false);
  expect(budget.open("2001:db8:0:2::1").take(1_000)).toBe(true);
});

test("[IN] a body gives back what it took, and a chunk that was refused takes nothing", () => {
  const budget = createBodyBudget({ total: 2_000, perClient: 2_000 });
  for (let body = 0; body < 100; body += 1) {
    using arriving = budget.open("192.0.2.1");
    expect([arriving.take(700), arriving.take(700), arriving.take(1)]).toEqual([true, true, false]);
  }
});

test("[IN] tiny chunks are not free", () => {
  const budget = createBodyBudget({ total: 64_000, perClient: 64_000 });
  const body = budget.open("192.0.2.1");
  let taken = 0;
  while (body.take(1)) taken += 1;
  expect(taken).toBeLessThan(300);
});

import { expect, it } from "vitest";
import { createGate } from "./gate.ts";

it("[OUT] lets in as many as there are places, the others in order", async () => {
  const gate = createGate(2);
  const inside: number[] = [];
  const entered = [1, 2, 3, 4].map((number) => gate.enter().then(() => inside.push(number)));
  await Promise.all(entered.slice(0, 2));
  await new Promise((resolve) => setImmediate(resolve));
  expect(inside).toEqual([1, 2]);
  gate.leave();
  await entered[2];
  expect(inside).toEqual([1, 2, 3]);
  gate.leave();
  await entered[3];
  expect(inside).toEqual([1, 2, 3, 4]);
});

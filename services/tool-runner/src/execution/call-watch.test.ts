import { expect, test } from "vitest";
import type { IdempotencyScope } from "../store/idempotent-calls.ts";
import { createCallWatch } from "./call-watch.ts";

const scope = (idempotencyKey: string): IdempotencyScope => ({ keyId: "1", tool: "t", idempotencyKey });
const never = new AbortController().signal;
const inLong = () => performance.now() + 60_000;

test("[TOOL] however many wait for calls of other processes, they share one question at a time", async () => {
  const asked: number[] = [];
  const questions: PromiseWithResolvers<number[]>[] = [];
  const watch = createCallWatch((scopes) => {
    asked.push(scopes.length);
    const question = Promise.withResolvers<number[]>();
    questions.push(question);
    if (questions.length > 1) question.resolve(scopes.map((_, place) => place));
    return question.promise;
  });
  const waiting = Array.from({ length: 100 }, (_, n) => watch.until(scope(String(n % 20)), inLong(), never));
  while (questions.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  questions[0]?.resolve([0, 1]);
  expect(await Promise.all(waiting)).toEqual(new Array(100).fill(true));
  expect(asked).toEqual([20, 18]);
});

test("[TOOL] who waits for a call of this process hears of its end from it, without a question", async () => {
  let questions = 0;
  const watch = createCallWatch(async () => {
    questions += 1;
    return [];
  });
  const call = Promise.withResolvers<void>();
  const running = watch.during(scope("a"), () => call.promise);
  const twins = [1, 2, 3].map(() => watch.until(scope("a"), inLong(), never));
  // Longer than one round of questions takes.
  expect(await watch.until(scope("a"), performance.now() + 300, never)).toBe(false);
  call.resolve();
  await running;
  expect(await Promise.all(twins)).toEqual([true, true, true]);
  expect(questions).toBe(0);
});

test("[TOOL] a question that fails wakes everybody, and who has left waits no more", async () => {
  const watch = createCallWatch(() => Promise.reject(new Error("no database")));
  const left = new AbortController();
  const leaving = watch.until(scope("b"), inLong(), left.signal);
  left.abort();
  expect(await leaving).toBe(false);
  expect(await watch.until(scope("b"), inLong(), left.signal)).toBe(false);
  expect(await watch.until(scope("c"), inLong(), never)).toBe(true);
});

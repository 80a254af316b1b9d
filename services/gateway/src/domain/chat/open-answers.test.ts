import { expect, test } from "vitest";
import { ANSWER_LIMITS, OpenAnswers } from "./open-answers.ts";

test("[CHAT] a user has 20 answers, a workspace 2,000, and one that ends twice frees one place", () => {
  const answers = new OpenAnswers(ANSWER_LIMITS);
  const open = Array.from({ length: 20 }, () => answers.open("ann", "acme"));
  expect(open).not.toContain(undefined);
  expect(answers.open("ann", "other")).toBeUndefined();
  open[0]?.[Symbol.dispose]();
  open[0]?.[Symbol.dispose]();
  expect(answers.open("ann", "acme")).toBeDefined();
  expect(answers.open("ann", "acme")).toBeUndefined();
  for (let count = 20; count < 2_000; count += 1) expect(answers.open(`u${count % 100}`, "acme")).toBeDefined();
  expect(answers.open("new", "acme")).toBeUndefined();
  expect(answers.open("new", "other")).toBeDefined();
});

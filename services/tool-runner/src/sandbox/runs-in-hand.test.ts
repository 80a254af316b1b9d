import { expect, test } from "vitest";
import type { ActiveRun } from "./active-run.ts";
import { createRunsInHand } from "./runs-in-hand.ts";

const runOf = (workspaceId: string, tool: string) =>
  ({ request: { workspaceId, key: `${workspaceId}/${tool}/1` } }) as ActiveRun;

test("[TOOL-2] a child that was full is asked again once a run of it has ended, and not before", () => {
  const inHand = createRunsInHand();
  inHand.add(1, runOf("a", "one"));
  inHand.add(2, runOf("b", "two"));
  expect(inHand.refuse(2)).toBeDefined();
  expect(inHand.hasIsolateFor(runOf("b", "two"))).toBe(false);
  expect(inHand.hasIsolateFor(runOf("c", "three"))).toBe(false);
  expect(inHand.hasIsolateFor(runOf("a", "one"))).toBe(true);
  inHand.remove(1);
  expect(inHand.hasIsolateFor(runOf("b", "two"))).toBe(true);
});

test("[TOOL-2] a tool that has an isolate needs no share, however many of its runs there are", () => {
  const inHand = createRunsInHand();
  let ticket = 0;
  for (let n = 0; inHand.hasIsolateFor(runOf("a", `t${n}`)); n += 1) {
    ticket += 1;
    inHand.add(ticket, runOf("a", `t${n}`));
  }
  expect(ticket).toBe(48);
  for (let n = 0; n < 100; n += 1) {
    expect(inHand.hasIsolateFor(runOf("a", "t0"))).toBe(true);
    ticket += 1;
    inHand.add(ticket, runOf("a", "t0"));
  }
  expect(inHand.hasIsolateFor(runOf("b", "t"))).toBe(true);
  expect(inHand.removeAll()).toHaveLength(ticket);
  expect(inHand.hasIsolateFor(runOf("a", "new"))).toBe(true);
});

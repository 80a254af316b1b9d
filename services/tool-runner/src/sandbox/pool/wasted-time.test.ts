import { describe, expect, it } from "vitest";
import type { Standing } from "../request.ts";
import { SandboxRun } from "./run.ts";
import { WastedTime } from "./wasted-time.ts";

const ALLOWED_MS = 3_000;
const HALF_LIFE_MS = 10_000;

function setUp() {
  const clock = { ms: 0 };
  const wasted = new WastedTime(() => clock.ms, { wastedMs: ALLOWED_MS, wastedHalfLifeMs: HALF_LIFE_MS });
  const waste = (run: SandboxRun, times: number, ms = 1_000) => {
    for (let n = 0; n < times; n += 1) wasted.learn(run, ms);
  };
  return { clock, wasted, waste };
}

function runOf(workspaceId: string, codeKey: string, standing: Standing = "known"): SandboxRun {
  return new SandboxRun({ workspaceId, codeKey, standing, limits: {} } as SandboxRun["request"], 0, 0, () => {});
}

describe("code that exceeds its limits", () => {
  it("[FAIR-4] waits once its workspace has wasted its allowance, until enough of that is forgotten", () => {
    const { clock, wasted, waste } = setUp();
    const run = runOf("a", "loop");
    expect(wasted.isSuspect(run)).toBe(false);
    waste(run, 2);
    expect([wasted.isSuspect(run), wasted.mustWait(run)]).toEqual([true, false]);
    waste(run, 2);
    expect(wasted.mustWait(run)).toBe(true);
    clock.ms += HALF_LIFE_MS;
    expect(wasted.mustWait(run)).toBe(false);
  });

  it("[FAIR-4] does not make other code of its workspace wait, or other workspaces", () => {
    const { wasted, waste } = setUp();
    waste(runOf("a", "loop"), 10);
    for (const run of [runOf("a", "plain"), runOf("b", "plain"), runOf("b", "fresh", "new")]) {
      expect([wasted.isSuspect(run), wasted.mustWait(run)]).toEqual([false, false]);
    }
  });

  it("[FAIR-4] is not excused by being saved again", () => {
    const { wasted, waste } = setUp();
    for (let version = 1; version <= 10; version += 1) waste(runOf("a", `loop ${version}`, "new"), 1);
    expect(wasted.mustWait(runOf("a", "loop 11", "new"))).toBe(true);
    expect(wasted.mustWait(runOf("a", "plain"))).toBe(false);
  });

  it("[FAIR-4] counts as harmless again after some runs that stay within their limits", () => {
    const { wasted, waste } = setUp();
    const run = runOf("a", "large inputs");
    waste(run, 4);
    for (let n = 0; n < 40; n += 1) wasted.learn(run, 0);
    expect([wasted.isSuspect(run), wasted.mustWait(run)]).toEqual([false, false]);
  });

  it("[FAIR-4] has no more runs at the same time than its workspace may waste", () => {
    const { wasted, waste } = setUp();
    waste(runOf("a", "loop"), 1);
    const under = Array.from({ length: 100 }, () => runOf("a", "loop"));
    const begun = under.filter((run) => {
      if (wasted.mustWait(run)) return false;
      wasted.begin(run);
      return true;
    });
    expect(begun).toHaveLength(4);
    for (const run of begun) wasted.end(run);
    expect(wasted.mustWait(runOf("a", "loop"))).toBe(false);
  });

  it("[FAIR-4] may run although one run wastes more than the allowance", () => {
    const { clock, wasted, waste } = setUp();
    const run = runOf("a", "long");
    waste(run, 3, 10 * ALLOWED_MS);
    expect(wasted.mustWait(run)).toBe(true);
    clock.ms += 10 * HALF_LIFE_MS;
    expect(wasted.mustWait(run)).toBe(false);
  });
});

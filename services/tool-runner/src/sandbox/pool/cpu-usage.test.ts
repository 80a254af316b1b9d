import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CpuUsage, HALF_LIFE_MS } from "./cpu-usage.ts";
import type { SandboxRun } from "./run.ts";
import { WaitingRuns } from "./waiting-runs.ts";

const runOf = (workspaceId: string) => ({ state: "waiting", request: { workspaceId } }) as SandboxRun;

describe("the CPU time of workspaces", () => {
  it("[TOOL-2] halves every three seconds", () => {
    let now = 0;
    const usage = new CpuUsage(() => now);
    usage.charge("a", 800);
    now = 3_000;
    expect(usage.of("a")).toBeCloseTo(400);
    usage.charge("a", 100);
    now = 9_000;
    expect(usage.of("a")).toBeCloseTo(125);
    expect(usage.of("b")).toBe(0);
  });

  it("[TOOL-2] a workspace that has used less starts first, whoever came first", () => {
    const usage = new CpuUsage(() => 0);
    const waiting = new WaitingRuns();
    for (const workspaceId of ["hog", "hog", "hog", "quiet", "middle"]) waiting.add(runOf(workspaceId));
    usage.charge("hog", 900);
    usage.charge("middle", 20);
    const started: string[] = [];
    waiting.offer(usage.compare, ({ request }) => started.push(request.workspaceId) > 0);
    expect(started).toEqual(["quiet", "middle", "hog", "hog", "hog"]);
  });

  it("[TOOL-2] workspaces that always have runs waiting get the same CPU time, give or take one run, however many wait", () => {
    const workspace = fc.record({ cost: fc.integer({ min: 1, max: 1_000 }), lanes: fc.integer({ min: 1, max: 30 }) });
    fc.assert(
      fc.property(fc.array(workspace, { minLength: 2, maxLength: 6 }), (workspaces) => {
        let now = 0;
        const usage = new CpuUsage(() => now);
        const waiting = new WaitingRuns();
        const used = workspaces.map(() => 0);
        for (const [index, { lanes }] of workspaces.entries()) {
          for (let lane = 0; lane < lanes; lane += 1) waiting.add(runOf(String(index)));
        }
        // One child, which takes one run at a time.
        while (now < 120_000) {
          let next: SandboxRun | undefined;
          waiting.offer(usage.compare, (run) => {
            if (next !== undefined) return false;
            next = run;
            return true;
          });
          const index = Number(next?.request.workspaceId);
          const { cost } = workspaces[index] as { cost: number };
          now += cost;
          used[index] = (used[index] ?? 0) + cost;
          usage.charge(String(index), cost);
          waiting.add(runOf(String(index)));
        }
        const fair = now / workspaces.length;
        // A workspace with long runs is ahead by half of one on average, which it has again after each half-life.
        const longest = Math.max(...workspaces.map(({ cost }) => cost));
        const ahead = (Math.LN2 * now * longest) / (2 * HALF_LIFE_MS);
        for (const ms of used) expect(Math.abs(ms - fair)).toBeLessThan(0.1 * fair + ahead + longest);
      }),
      { numRuns: 50 },
    );
  });
});

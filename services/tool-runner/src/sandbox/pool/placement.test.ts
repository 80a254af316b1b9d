import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AssignedRuns } from "./assigned-runs.ts";
import { hasIsolateFor, mayTakeOne } from "./placement.ts";
import type { SandboxRun } from "./run.ts";

const runOf = (workspaceId: string, tool: string) =>
  ({ request: { workspaceId, codeKey: `${workspaceId}/${tool}/1` } }) as SandboxRun;

describe("the share of a workspace", () => {
  it("[TOOL-2] is the same for all workspaces that take as much as they can, and leaves room for one more", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 100, max: 1_000 }), (workspaces, places) => {
        const held = new Array<number>(workspaces).fill(0);
        const taken = () => held.reduce((sum, mine) => sum + mine, 0);
        for (let took = true; took; ) {
          took = false;
          for (const [index, mine] of held.entries()) {
            if (!mayTakeOne(mine, taken(), places)) continue;
            held[index] = mine + 1;
            took = true;
          }
        }
        expect(Math.min(...held)).toBeGreaterThanOrEqual(Math.floor(places / (workspaces + 1)) - 1);
        expect(mayTakeOne(0, taken(), places)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });
});

describe("the isolates of a child", () => {
  it("[TOOL-2] a child that was full gets no other tool until one of its runs has ended", () => {
    const assigned = new AssignedRuns();
    assigned.add(1, runOf("a", "one"));
    const refused = Object.assign(runOf("b", "two"), { ticket: 2 });
    assigned.add(2, refused);
    assigned.refuse(refused);
    expect(hasIsolateFor(assigned, runOf("b", "two"))).toBe(false);
    expect(hasIsolateFor(assigned, runOf("c", "three"))).toBe(false);
    expect(hasIsolateFor(assigned, runOf("a", "one"))).toBe(true);
    assigned.remove(1);
    expect(hasIsolateFor(assigned, runOf("b", "two"))).toBe(true);
  });

  it("[TOOL-2] a tool that already has an isolate needs no further share, for any number of runs", () => {
    const assigned = new AssignedRuns();
    let ticket = 0;
    for (let n = 0; hasIsolateFor(assigned, runOf("a", `t${n}`)); n += 1) {
      ticket += 1;
      assigned.add(ticket, runOf("a", `t${n}`));
    }
    expect(ticket).toBe(48);
    for (let n = 0; n < 100; n += 1) {
      expect(hasIsolateFor(assigned, runOf("a", "t0"))).toBe(true);
      ticket += 1;
      assigned.add(ticket, runOf("a", "t0"));
    }
    expect(hasIsolateFor(assigned, runOf("b", "t"))).toBe(true);
    expect(assigned.removeAll()).toHaveLength(ticket);
    expect(hasIsolateFor(assigned, runOf("a", "new"))).toBe(true);
  });
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { mayTakeOne } from "./share.ts";

test("[TOOL-2] however many workspaces take all they can, each gets a share and one more finds room", () => {
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

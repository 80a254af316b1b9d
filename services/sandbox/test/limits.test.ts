import { expect, test } from "vitest";
import { handler, openPool, resultOf, runSource } from "./sandbox-harness.ts";

/** One of each kind; `make verify PART=attacks` has all of them. */
const HARMFUL = {
  cpu: "for (;;);",
  memory: "const kept = []; for (;;) kept.push(new Array(10_000).fill(kept.length));",
};

test.each(Object.entries(HARMFUL))(
  "[TOOL-2] code that exceeds its limit of %s ends its own run, and no run of another workspace",
  async (kind, source) => {
    await using pool = openPool();
    const neighbour = handler("return 1");
    expect(await resultOf(pool, neighbour, { workspaceId: "quiet" })).toBe(1);
    const harmful = runSource(pool, handler(source), { workspaceId: "noisy" });
    for (let run = 0; run < 5; run += 1) expect(await resultOf(pool, neighbour, { workspaceId: "quiet" })).toBe(1);
    expect((await harmful).kind).toBe(kind);
    expect(await resultOf(pool, neighbour, { workspaceId: "noisy" })).toBe(1);
  },
);

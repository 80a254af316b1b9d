import { describe, expect, it } from "vitest";
import { openPool, resultOf, runSource } from "./sandbox-harness.ts";

const FOR_EVER = 24 * 3_600_000;
const LOOP = "export default () => { for (;;); };";
const HOARD = "export default () => { const kept = []; for (;;) kept.push(new Array(10_000).fill(kept.length)); };";

describe("the processors", () => {
  it.each([
    ["CPU", LOOP, "cpu"],
    ["memory", HOARD, "memory"],
  ])(
    "[FAIR-4] code that keeps exceeding its %s limit waits, and neither other code of its workspace nor other workspaces do",
    async (_, source, kind) => {
      await using pool = openPool(1, { wastedMs: 1, wastedHalfLifeMs: FOR_EVER, heldBackMs: 500 });
      const limits = { cpuMs: kind === "cpu" ? 50 : 10_000 };
      expect((await runSource(pool, source, { limits })).kind).toBe(kind);
      const waiting = runSource(pool, source, { limits });
      expect(await resultOf(pool, "export default () => 'same workspace'")).toBe("same workspace");
      expect(await resultOf(pool, "export default () => 'other'", { workspaceId: "other" })).toBe("other");
      expect(await waiting).toMatchObject({
        kind: "held-back",
        message: "Runs of this workspace have exceeded their limits too often lately: try again later",
      });
    },
  );

  it("[FAIR-4] code with less time than it may be held back for is held back too, and that is logged once", async () => {
    const warnings: string[] = [];
    const log = { warn: (_: object, message: string) => void warnings.push(message) };
    await using pool = openPool(1, { wastedMs: 1, wastedHalfLifeMs: FOR_EVER }, { log });
    const limits = { cpuMs: 50 };
    expect((await runSource(pool, LOOP, { limits })).kind).toBe("cpu");
    const soon = { ...limits, wallMs: 100 };
    for (let n = 0; n < 2; n += 1) expect((await runSource(pool, LOOP, { limits: soon })).kind).toBe("held-back");
    expect(warnings.filter((message) => message.startsWith("runs held back"))).toHaveLength(1);
  });

  it("[FAIR-4] code that exceeds its limit runs again when its waste is forgotten", async () => {
    let passedMs = 0;
    await using pool = openPool(
      1,
      { wastedMs: 1, wastedHalfLifeMs: 60_000, heldBackMs: FOR_EVER },
      { now: () => performance.now() + passedMs },
    );
    const limits = { cpuMs: 50 };
    expect((await runSource(pool, LOOP, { limits })).kind).toBe("cpu");
    const waiting = runSource(pool, LOOP, { limits: { ...limits, wallMs: FOR_EVER } });
    await resultOf(pool, "export default () => 1");
    passedMs = 3_600_000;
    expect((await waiting).kind).toBe("cpu");
  });
});

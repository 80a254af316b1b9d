import { describe, expect, it } from "vitest";
import { detectIsolation } from "../../src/sandbox/isolation/detect.ts";
import { createSandboxPool } from "../../src/sandbox/pool.ts";
import type { SpawnProcess } from "../../src/sandbox/processes/engine-process.ts";
import { LocalProcess } from "../../src/sandbox/processes/local-process.ts";
import type { Paced } from "../../src/sandbox/request.ts";
import { NEIGHBOUR_LANES, openPool, resultOf, startNeighbours, until } from "./sandbox-harness.ts";

const DEADLINE_MS = 240_000;
const PATIENT = { startPatienceMs: 60_000 };
const ISOLATION = detectIsolation();
const limits = { wallMs: DEADLINE_MS, cpuMs: 100_000 };
const allTogether = (calls: number) => `export default async (args, ctx) => {
  const lengths = await Promise.all(Array.from({ length: ${calls} }, (_, n) => ctx.fetch(n).then((text) => text.length)));
  return lengths.reduce((sum, length) => sum + length, 0);
}`;

describe("results of host calls", () => {
  const calls = 20;
  // Each quote is two characters of the result and four of the frame, so together they exceed the largest frame.
  const heavy = JSON.stringify('"'.repeat(4 * 1024 * 1024 - 16));
  const heavySum = calls * (4 * 1024 * 1024 - 16);

  it(
    "[TOOL-2] results that do not fit into one frame together reach their run, and neighbours continue meanwhile",
    async () => {
      await using pool = openPool(2);
      const neighbours = startNeighbours(pool);
      await until("neighbours at work", () => neighbours.runs() >= 20);
      const before = neighbours.runs();
      const onHostCall = async () => heavy;
      const run = { codeKey: "heavy", onHostCall, limits };
      expect(await resultOf(pool, allTogether(2 * calls), run)).toBe(2 * heavySum);
      // Those that were under way could end, and further ones have begun and ended: how many depends on the machine.
      expect(neighbours.runs() - before).toBeGreaterThan(NEIGHBOUR_LANES);
      expect((await neighbours.stop()).failures).toEqual([]);
    },
    DEADLINE_MS,
  );

  it("[TOOL-2] a large result arrives as it was sent, in one piece or in parts", async () => {
    await using pool = openPool(1);
    // The quote makes every boundary of a part fall between the two halves of a character.
    const text = "\u{1f600}".repeat(200_000);
    const json = JSON.stringify(text);
    const source = `export default async (args, ctx) => (await ctx.fetch(1)) === "\\u{1f600}".repeat(200_000)`;
    for (const result of [json, [json.slice(0, 7), json.slice(7, 300_000), json.slice(300_000)]])
      expect(await resultOf(pool, source, { onHostCall: async () => result, limits })).toBe(true);
  });

  it.each([
    ["in parts", true],
    ["in one message to a child of an earlier version", false],
  ])("[TOOL-2] a large result is sent %s", async (_how, isNew) => {
    let sent = "";
    const spawn: SpawnProcess = (settings, events) => {
      const onData = (chunk: Buffer) =>
        events.onData(isNew ? chunk : Buffer.from(chunk.toString().replace(',"takesParts":true', "")));
      const child = new LocalProcess(settings, ISOLATION, { ...events, onData });
      const write = child.write.bind(child);
      child.write = (bytes, onWritten) => {
        sent += bytes.toString("latin1");
        write(bytes, onWritten);
      };
      return child;
    };
    await using pool = createSandboxPool({ children: 1, spawn, limits: PATIENT, log: { warn: () => {} } });
    const text = "x".repeat(400_000);
    const onHostCall = async () => JSON.stringify(text);
    expect(await resultOf(pool, allTogether(1), { onHostCall, limits })).toBe(text.length);
    expect(sent.split('["part",').length - 1).toBe(isNew ? 3 : 0);
  });

  it(
    "[TOOL-2] a bounded number of host calls of one run is under way, and the others wait in the run",
    async () => {
      await using pool = openPool(1);
      let underWay = 0;
      let most = 0;
      const gates: (() => void)[] = [];
      const onHostCall = async () => {
        underWay += 1;
        most = Math.max(most, underWay);
        await new Promise<void>((open) => gates.push(open));
        underWay -= 1;
        return '"abc"';
      };
      const result = resultOf(pool, allTogether(200), { onHostCall, limits });
      for (let resolved = 0; resolved < 200; resolved += 1) {
        await until("a call under way", () => gates.length > 0, DEADLINE_MS);
        // Only the first time: later, any call above the bound would be seen.
        if (resolved === 0) await until("as many calls as the bound allows", () => gates.length >= 16, DEADLINE_MS);
        gates.shift()?.();
      }
      expect(await result).toBe(600);
      expect(most).toBe(16);
    },
    DEADLINE_MS,
  );

  it(
    "[TOOL-2] no more results are made while a run has not taken the earlier ones",
    async () => {
      await using pool = openPool(1, { killGraceMs: 30_000 });
      const [pid] = pool.pids();
      let made = 0;
      const encode = () => {
        made += 1;
        // The child is stopped while the first results are on their way.
        if (made === 1) process.kill(pid as number, "SIGSTOP");
        return heavy;
      };
      let asked = 0;
      const onHostCall = (
        _name: string,
        _args: string,
        _signal: AbortSignal,
        paced: Paced = async (work) => work(),
      ) => {
        asked += 1;
        return paced(encode);
      };
      const result = resultOf(pool, allTogether(calls), { onHostCall, limits });
      await until("calls and their first results", () => asked === 16 && made >= 3, DEADLINE_MS);
      for (let turns = 0; turns < 1_000; turns += 1) await new Promise((resolve) => setImmediate(resolve));
      const madeUntaken = made;
      process.kill(pid as number, "SIGCONT");
      expect(await result).toBe(heavySum);
      // 16 MiB, and the result that exceeded them.
      expect(madeUntaken).toBe(3);
    },
    DEADLINE_MS,
  );
});

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SandboxPool } from "../../src/pool.ts";
import type { SandboxOutcome, SandboxStop } from "../../src/request.ts";
import { handler, openPool, runSource, startNeighbours, until } from "../sandbox-harness.ts";

/** Attacks that a limit must end, with the outcomes that are acceptable. */
const LIMITED: [string, string, (SandboxStop | "threw")[]][] = [
  ["an endless loop", "for (;;) {}", ["cpu"]],
  ["an endless loop of jobs", "while (true) await 0", ["cpu"]],
  ["jobs that start more jobs", "const f = () => Promise.resolve().then(f).then(f); await f()", ["cpu", "memory"]],
  ["a catastrophic pattern", "return /^(a+)+$/.test('a'.repeat(40) + 'b')", ["cpu"]],
  ["filling a huge array", "return new Array(1e9).fill(0)", ["cpu", "memory"]],
  [
    "doubling a string",
    "let s = 'x'; const all = []; for (;;) { s += s; all.push(s + all.length) }",
    ["threw", "memory"],
  ],
  ["many small objects", "const all = []; for (;;) all.push({ a: [1, 2, 3] })", ["memory", "cpu"]],
  ["huge array buffers", "const all = []; for (;;) all.push(new ArrayBuffer(4e6))", ["threw", "memory"]],
  ["an endless getter in the result", "return { get a() { for (;;) {} } }", ["cpu"]],
  ["an endless toJSON", "return { toJSON() { for (;;) {} } }", ["cpu"]],
  ["an endless proxy", "return new Proxy({}, { ownKeys() { for (;;) {} } })", ["cpu"]],
  ["an endless thenable", "return { then() { for (;;) {} } }", ["cpu"]],
  ["an endless thenable chain", "const t = { then(r) { r(t) } }; return t", ["cpu", "memory"]],
  ["an endless message getter", "throw { get message() { for (;;) {} } }", ["cpu"]],
  [
    "an unhandled rejection with an endless getter",
    "Promise.reject({ get message() { for (;;) {} } }); return {}",
    ["cpu"],
  ],
  [
    "an endless iterator",
    "return [...{ [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) }]",
    ["cpu", "memory"],
  ],
  ["endless recursion", "const f = () => f() + 1; return f()", ["threw"]],
  ["a huge power", "return String(7n ** (7n ** 9n))", ["cpu", "memory", "threw"]],
  ["a loop inside evaluated text", "return Function('for (;;) {}')()", ["cpu"]],
  ["a result that is too large", "return 'x'.repeat(70_000)", ["result-too-large"]],
  ["a result that is too large in bytes only", "return 'ü'.repeat(40_000)", ["result-too-large"]],
  ["a result without end", "const a = []; a.push(a); return a", ["unserializable"]],
  ["a flood of host calls", "for (;;) ctx.callTool('x')", ["cpu", "memory"]],
  ["one host call after another", "for (;;) await ctx.callTool('x')", ["threw"]],
  ["waiting for nothing", "await new Promise(() => {})", ["timeout"]],
  ["blocking the thread", "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)", ["threw"]],
  ["compiled memory", "return new WebAssembly.Memory({ initial: 60_000 })", ["threw"]],
];

const KILLERS = new Set(["filling a huge array", "an unhandled rejection with an endless getter", "a huge power"]);

/** On a busy machine the shortest time may end before a child begins the run. */
const TIMEOUTS_MS = [300, 3_000, 20_000];

async function endingOf(pool: SandboxPool, body: string, kinds: readonly string[]): Promise<SandboxOutcome> {
  const cpuMs = kinds.includes("cpu") ? 300 : 10_000;
  if (!kinds.includes("timeout")) return runSource(pool, handler(body), { limits: { cpuMs } });
  for (const wallMs of TIMEOUTS_MS) {
    const outcome = await runSource(pool, handler(body), { limits: { cpuMs, wallMs } });
    if (outcome.kind !== "overloaded") return outcome;
  }
  throw new Error("no child has begun the run");
}

/** So long that no child is killed: whatever the engine can interrupt must end by interruption. */
const PATIENCE_MS = 60_000;

describe("sandbox limits, with neighbours in the same pool", () => {
  let killing: SandboxPool;
  let patient: SandboxPool;
  const warnings: string[] = [];
  beforeAll(() => {
    killing = openPool();
    const log = { warn: (_: object, message: string) => warnings.push(message) };
    patient = openPool({ killGraceMs: PATIENCE_MS }, { log });
  });
  afterAll(() => Promise.all([killing, patient].map((pool) => pool[Symbol.asyncDispose]())));

  it.each(LIMITED.map(([name, body, kinds]) => ({ name, body, kinds })))(
    "[TOOL-2] $name ends its own run and no neighbour's",
    async ({ name, body, kinds }) => {
      // Where the engine cannot be interrupted, its process is killed.
      const mayBeKilled = KILLERS.has(name) || kinds.includes("memory");
      const pool = mayBeKilled ? killing : patient;
      warnings.length = 0;
      const neighbours = startNeighbours(pool);
      await until("neighbours at work", () => neighbours.runs() >= 8);
      const outcome = await endingOf(pool, body, kinds);
      const before = neighbours.runs();
      await until("neighbours continue", () => neighbours.runs() >= before + 8);
      const { failures } = await neighbours.stop();
      expect(kinds).toContain(outcome.kind);
      expect(warnings).not.toContain("sandbox child ended");
      expect(failures).toEqual([]);
    },
  );
});

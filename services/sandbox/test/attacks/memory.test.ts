import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DEFAULT_POOL_LIMITS } from "../../src/limits.ts";
import { handler, openPool, resultOf, runSource, until } from "../sandbox-harness.ts";

const MIB = 1024 * 1024;
const ISOLATE_MIB = 32;

function residentMib(pid: number | undefined): number {
  return Number(/VmRSS:\s+(\d+) kB/u.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

/** Ways to get memory, as functions of a number of bytes. */
const WAYS: Record<string, string> = {
  "a resizable buffer":
    "const b = new ArrayBuffer(0, { maxByteLength: size }); b.resize(size); return new Uint8Array(b).fill(1)",
  "a resizable buffer of a subclass":
    "class B extends ArrayBuffer {} const b = Reflect.construct(ArrayBuffer, [0, { maxByteLength: size }], B); b.resize(size); return new Uint8Array(b).fill(1)",
  "a resizable buffer by way of a typed array":
    "const C = new Uint8Array(1).buffer.constructor; const b = new C(0, { maxByteLength: size }); b.resize(size); return new Uint8Array(b).fill(1)",
  "a buffer that was transferred": "const b = new ArrayBuffer(8).transfer(size); return new Uint8Array(b).fill(1)",
  "a copy of a buffer": "return [new Uint8Array(size / 2).fill(1), new ArrayBuffer(size / 2).slice(0)]",
  "a shared buffer": "return new Uint8Array(new SharedArrayBuffer(size)).fill(1)",
  "compiled memory": "return new Uint8Array(new WebAssembly.Memory({ initial: size / 65536 }).buffer).fill(1)",
  "many small buffers": "return Array.from({ length: size / 65536 }, () => new Uint8Array(65536).fill(1))",
  "long strings":
    "return Array.from({ length: 16 }, (_, n) => { const s = String(n % 10).repeat(size / 16) + n; s.charCodeAt(0); return s })",
  "strings of two bytes":
    "return Array.from({ length: 64 }, (_, n) => JSON.stringify('\\u4e00'.repeat(size / 128) + n))",
  numbers: "return Array.from({ length: 32 }, () => new Float64Array(size / 256).fill(1))",
};

describe("memory of runs", () => {
  it.each(Object.entries(WAYS).map(([name, way]) => ({ name, way })))(
    "[TOOL-2] $name of 160 MiB ends its own run, and its child needs no more than the bound of one run",
    async ({ way }) => {
      await using pool = openPool();
      await resultOf(pool, handler("return 1"));
      const [pid] = pool.pids("workspace");
      const before = residentMib(pid);
      const source = handler(
        `const take = (size) => { ${way} }; const kept = take(${160 * MIB}); await ctx.callTool('x'); return kept`,
      );
      const outcome = await runSource(pool, source, { limits: { cpuMs: 2_000 } });
      expect(["threw", "memory", "cpu"]).toContain(outcome.kind);
      expect(residentMib(pid)).toBeLessThan(before + 3 * ISOLATE_MIB);
    },
  );

  it.each([
    { what: "buffers", way: `Array.from({ length: 26 }, () => new Uint8Array(${MIB}).fill(1))` },
    { what: "objects", way: "Array.from({ length: 700_000 }, (_, n) => ({ n }))" },
  ])(
    "[TOOL-2] [FAIR-4] many runs of a workspace that keep $what, each within its bound, do not end their child",
    async ({ way }) => {
      await using pool = openPool();
      const gates = { begin: Promise.withResolvers<string>(), end: Promise.withResolvers<string>() };
      let [begun, holding, ended] = [0, 0, 0];
      const neighbour = resultOf(pool, handler("await ctx.callTool('hold'); return 1"), {
        workspaceId: "neighbour",
        onHostCall: () => gates.end.promise,
        limits: { wallMs: 300_000 },
      });
      const source = handler(
        `await ctx.callTool('begin'); const kept = ${way}; await ctx.callTool('hold'); return kept.length`,
      );
      const runs = 44;
      const outcomes = Array.from({ length: runs }, (_, n) => {
        let calls = 0;
        const onHostCall = () => {
          calls += 1;
          if (calls === 1) begun += 1;
          else holding += 1;
          return calls === 1 ? gates.begin.promise : gates.end.promise;
        };
        const limits = { cpuMs: 5_000, wallMs: 300_000 };
        const outcome = runSource(pool, source, { codeKey: `t${n}`, onHostCall, limits });
        return outcome.finally(() => {
          ended += 1;
        });
      });
      await until("all have begun", () => begun === runs);
      const pids = pool.pids("workspace");
      gates.begin.resolve("null");
      await until("all hold their memory or have ended", () => holding + ended >= runs);
      expect(pool.pids("workspace")).toEqual(expect.arrayContaining(pids));
      for (const pid of pids) expect(residentMib(pid)).toBeLessThan(DEFAULT_POOL_LIMITS.childRssMib);
      const small = handler("await ctx.callTool('echo'); return 2");
      expect(await resultOf(pool, small, { limits: { wallMs: 300_000 } })).toBe(2);
      gates.end.resolve("null");
      const kinds = (await Promise.all(outcomes)).map(({ kind }) => kind);
      expect(new Set(kinds)).toEqual(new Set(["ok", "memory"]));
      expect(await neighbour).toBe(1);
    },
  );

  it("[TOOL-2] buffers of a fixed size work as usual", async () => {
    await using pool = openPool();
    const source = handler(`
      const b = new ArrayBuffer(8); new DataView(b).setInt16(2, 258);
      class Mine extends ArrayBuffer { get twice() { return this.byteLength * 2 } }
      let called = ''; try { ArrayBuffer(8) } catch (error) { called = error.name }
      return { bytes: [...new Uint8Array(b)], slice: b.slice(2, 4) instanceof ArrayBuffer, size: b.slice(2, 4).byteLength,
        mine: new Mine(4).twice, isMine: new Mine(4) instanceof Mine, view: ArrayBuffer.isView(new Uint8Array(1)),
        name: ArrayBuffer.name, same: new Uint8Array(1).buffer.constructor === ArrayBuffer, called,
        tag: Object.prototype.toString.call(b), resize: typeof b.resize, transfer: typeof b.transfer, resizable: b.resizable }`);
    expect(await resultOf(pool, source)).toEqual({
      bytes: [0, 0, 1, 2, 0, 0, 0, 0],
      slice: true,
      size: 2,
      mine: 8,
      isMine: true,
      view: true,
      name: "ArrayBuffer",
      same: true,
      called: "TypeError",
      tag: "[object ArrayBuffer]",
      resize: "undefined",
      transfer: "undefined",
      resizable: false,
    });
  });

  it("[FAIR-4] a run that exceeds its memory reports the CPU time that it used until then", async () => {
    await using pool = openPool();
    const limits = { cpuMs: 10_000 };
    const fill = handler("for (const kept = []; ; ) kept.push(new Array(10_000).fill(1))");
    const outcome = await runSource(pool, fill, { limits });
    expect(outcome.kind).toBe("memory");
    expect(outcome.cpuMs).toBeGreaterThan(0);
  });
});

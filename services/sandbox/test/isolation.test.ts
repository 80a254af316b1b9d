import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SandboxPool } from "../src/pool.ts";
import { handler, openPool, resultOf, runSource, until } from "./sandbox-harness.ts";

/** Each tries to leave something behind for the next run, in strict and in sloppy mode. */
const TRAPS = [
  "Object.prototype.trap = 1",
  "Array.prototype.then = (f) => f(1)",
  "Object.prototype.then = (f) => f(1)",
  "Object.prototype.toJSON = () => 'trap'",
  "Array.prototype.push = () => 0",
  "Array.prototype[0] = 'trap'",
  "Promise.prototype.then = () => {}",
  "Object.defineProperty(Promise, Symbol.species, { value: Object })",
  "Promise.resolve = () => {}",
  "Promise.prototype.constructor = Object",
  "JSON.stringify = () => '{}'",
  "JSON = {}",
  "Function.prototype.call = () => {}",
  "Error.prepareStackTrace = (e, sites) => sites",
  "Error.stackTraceLimit = 0",
  "String.prototype.slice = () => ''",
  "Map.prototype.get = () => {}",
  "globalThis.trap = 1",
  "Function('trap = 1')()",
  "(0, eval)('var trap = 1')",
  "(0, eval)('function trap() {}')",
  "Function('return this')().trap = 1",
  "globalThis.Object = Array",
  "delete globalThis.Promise",
  "delete Object.prototype.hasOwnProperty",
  "Object.setPrototypeOf(Object.prototype, { trap: 1 })",
  "Object.setPrototypeOf(globalThis, { trap: 1 })",
  "({}).__proto__.trap = 1",
  "(async () => {}).constructor.prototype.trap = 1",
  "(function* () {})().__proto__.__proto__.next = () => {}",
  "Object.getPrototypeOf([][Symbol.iterator]()).next = () => ({ done: true })",
  "Intl.DateTimeFormat.prototype.format = null",
];

const PROBE = handler(`return {
  own: Reflect.ownKeys(globalThis).map(String).sort(),
  object: Reflect.ownKeys(Object.prototype).map(String).sort(),
  array: Reflect.ownKeys(Array.prototype).map(String).sort(),
  promise: Promise.prototype.then === (async () => {})().then && Promise.resolve(1) instanceof Promise,
  spread: [...[1, 2]].length + [...(function* () { yield 1 })()].length,
  json: JSON.stringify({ a: [1] }), awaited: await Promise.resolve('x'), stack: new Error('e').stack.length > 10,
  trap: typeof trap, chain: ({}).trap === undefined && [].trap === undefined
}`);

describe("sandbox isolation", () => {
  let pool: SandboxPool;
  beforeAll(() => {
    pool = openPool();
  });
  afterAll(() => pool[Symbol.asyncDispose]());

  it("[TOOL-2] nothing that a run does to the realm affects the next run", async () => {
    const codeKey = "same-tool-same-isolate";
    const source = `export default async (args, ctx) => {
      if (!args.attack) return await (${PROBE.slice("export default ".length)})(args, ctx);
      for (const sloppy of [false, true]) {
        try { Function((sloppy ? '' : '"use strict";') + args.attack)() } catch {}
      }
      return {};
    }`;
    const clean = await resultOf(pool, source, { codeKey });
    for (const attack of TRAPS) {
      expect(await resultOf(pool, source, { codeKey, args: { attack } })).toEqual({});
      expect({ attack, found: await resultOf(pool, source, { codeKey }) }).toEqual({ attack, found: clean });
    }
  });

  it("[TOOL-2] every object that a tool can reach without creating it is frozen", async () => {
    const source = handler(`
      const seen = new Set(), open = [], pending = [[globalThis, 'global']];
      const literals = [[], {}, () => {}, async () => {}, function* () {}, async function* () {}, /x/, 'x', 1, 1n, true,
        Symbol(), new Map().values(), new Set().keys(), 'x'[Symbol.iterator](), 'x'.matchAll(/x/g), [].values(),
        Object.getPrototypeOf((function* () {})()), Object.getPrototypeOf((async function* () {})()), [].values().map((x) => x), new Date(), new Intl.Segmenter().segment('x')];
      for (const value of literals) pending.push([Object.getPrototypeOf(value), typeof value]);
      while (pending.length) {
        const [value, path] = pending.pop();
        if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) continue;
        seen.add(value);
        if (!Object.isFrozen(value)) open.push(path);
        pending.push([Object.getPrototypeOf(value), path + '^']);
        for (const key of Reflect.ownKeys(value)) {
          const found = Reflect.getOwnPropertyDescriptor(value, key);
          for (const part of ['value', 'get', 'set']) pending.push([found[part], path + '.' + String(key)]);
        }
      }
      return { open, many: seen.size > 500 };`);
    expect(await resultOf(pool, source)).toEqual({ open: [], many: true });
  });

  it("[TOOL-2] the state of a module and of its last match does not outlive a run", async () => {
    const source =
      "let n = 0; const seen = []; export default async (args) => " +
      "{ const before = String(RegExp.$1) + String(RegExp.lastMatch) + RegExp.input; /(s.)/.exec('secret'); seen.push(1); n++; return { n, seen, before } }";
    for (const _ of [1, 2, 3]) {
      expect(await resultOf(pool, source)).toEqual({ n: 1, seen: [1], before: "undefinedundefinedundefined" });
    }
  });

  it("[TOOL-2] a tool cannot reach a host object from any value that it has", async () => {
    const source = handler(`
      const roots = [globalThis, ctx, args, ctx.callTool, ctx.log, console];
      try { await ctx.callTool('refused') } catch (error) { roots.push(error) }
      const response = await ctx.fetch('x'); roots.push(response);
      const makers = roots.map((root) => root.constructor?.constructor ?? Function);
      const views = makers.map((make) => make('return [typeof process, typeof require, typeof module, typeof global, ' +
        'typeof setTimeout, typeof setImmediate, typeof queueMicrotask, typeof ivm, typeof isolate, typeof Buffer, typeof fetch, ' +
        'typeof $0, typeof WebAssembly, typeof SharedArrayBuffer, typeof Atomics, typeof WeakRef, this === globalThis]')());
      const same = makers.every((make) => make === Function);
      let caller = 'none';
      try { caller = String((function f() { return f.caller })()) } catch { caller = 'thrown' }
      return { same, views: [...new Set(views.map(String))], caller };`);
    const onHostCall = async (name: string) => {
      if (name === "callTool") throw Object.assign(new TypeError("refused"), { code: "read_only", secret: process });
      return '{"status":200}';
    };
    const { same, views, caller } = (await resultOf(pool, source, { onHostCall })) as Record<string, unknown>;
    expect(same).toBe(true);
    expect(views).toEqual([`${"undefined,".repeat(16)}true`]);
    expect(["thrown", "none", "null"]).toContain(caller);
  });

  it("[TOOL-2] an error of a host call arrives with its message, name and code and nothing else", async () => {
    const source = handler(`try { await ctx.callTool('x') } catch (error) {
      return { keys: Reflect.ownKeys(error).sort(), message: error.message, name: error.name, code: error.code,
        plain: Object.getPrototypeOf(error) === Error.prototype, stack: error.stack }
    }`);
    const onHostCall = async () => {
      throw Object.assign(new RangeError("no writing here"), {
        code: "read_only",
        cause: { password: "hidden" },
        path: "/secret",
      });
    };
    const found = (await resultOf(pool, source, { onHostCall })) as Record<string, unknown>;
    expect(found).toMatchObject({ message: "no writing here", name: "RangeError", code: "read_only", plain: true });
    expect(found.keys).toEqual(["code", "message", "name", "stack"]);
    expect(String(found.stack)).not.toMatch(/node:|sandbox|\.ts/u);
  });

  it("[TOOL-2] a stack trace names only places in the tool's own source", async () => {
    const outcome = await runSource(pool, "export default async () => {\n  null.x;\n}");
    expect(outcome).toMatchObject({ kind: "threw", message: expect.stringMatching(/^TypeError: /u) });
    const stack = outcome.kind === "threw" ? (outcome.stack ?? "") : "";
    expect(stack).toContain("tool.js:2:8");
    expect(stack).not.toMatch(/node:|\.ts|file:/u);
  });

  it("[TOOL-2] tricks with promise species and thenables change only the run's own values", async () => {
    const source = handler(`
      class Odd extends Promise { static get [Symbol.species]() { return function (f) { f(() => {}, () => {}) } } }
      const p = Promise.resolve({ real: true }); Object.defineProperty(p, 'constructor', { value: Odd });
      await Odd.resolve(1);
      const viaThenable = await { then(resolve) { resolve('t'); resolve('again'); throw new Error('late') } };
      Promise.reject(new Error('nobody listens'));
      return { p: await p, viaThenable };`);
    expect(await resultOf(pool, source)).toEqual({ p: { real: true }, viaThenable: "t" });
  });

  it("[TOOL-2] a run that imitates an error of the engine ends no other run in its isolate", async () => {
    const source = handler(
      "if (args.wait) return await ctx.callTool('hold'); Promise.reject(new Error('Script execution timed out.')); return 1",
    );
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let reached = false;
    const onHostCall = async () => {
      reached = true;
      await held;
      return '"held"';
    };
    const waiting = resultOf(pool, source, { args: { wait: true }, onHostCall });
    await until("the first run waits", () => reached);
    expect(await resultOf(pool, source)).toBe(1);
    release();
    expect(await waiting).toBe("held");
  });

  it("[TOOL-2] ordinary code works in the frozen realm", async () => {
    const source = handler(`
      function Point(x) { this.x = x } Point.prototype.toString = function () { return 'P' + this.x };
      function Old() {} Old.prototype = Object.create(Error.prototype); Old.prototype.constructor = Old; Old.prototype.name = 'Old';
      class Mine extends Error { constructor(m) { super(m); this.name = 'Mine' } toString() { return 'mine' } }
      class List extends Array { sum() { return this.reduce((a, b) => a + b, 0) } }
      const plain = {}; plain.toString = () => 'plain'; plain.constructor = 1; plain.valueOf = () => 7; plain.hasOwnProperty = 2;
      const e = new Error('m'); e.name = 'Renamed'; e.message = 'changed';
      const f = () => 1; f.toString = () => 'f'; const counts = { constructor: 0 }; counts.constructor += 1;
      const m = new Map([[1, 2]]); m.extra = 1; const copied = Object.assign({}, { toString: 1, valueOf: 2 });
      const keys = []; for (const k in { a: 1 }) keys.push(k);
      console.log('from console', { a: 1 }); ctx.log('from ctx', 1);
      return { a: String(new Point(1)), b: new Old().name, c: String(new Mine('x')), d: new Mine('x').name, e: List.from([1, 2]).sum(),
        f: String(plain) + plain.constructor, g: String(e), h: counts.constructor, i: copied, keys, j: [3, 1, 2].sort().map((x) => x * 2),
        k: new Date(0).toISOString(), l: 'a-b'.replace(/-(.)/, (_, x) => x.toUpperCase()), m: structuredCloneMissing(), n: new Mine('x') instanceof Error };
      function structuredCloneMissing() { return typeof structuredClone }`);
    const outcome = await runSource(pool, source);
    expect(outcome).toMatchObject({ kind: "ok", logs: ['from console {"a":1}', "from ctx 1"] });
    expect(JSON.parse(outcome.kind === "ok" ? outcome.resultJson : "{}")).toEqual({
      a: "P1",
      b: "Old",
      c: "mine",
      d: "Mine",
      e: 3,
      f: "plain1",
      g: "Renamed: changed",
      h: 1,
      i: { toString: 1, valueOf: 2 },
      keys: ["a"],
      j: [2, 4, 6],
      k: "1970-01-01T00:00:00.000Z",
      l: "aB",
      m: "undefined",
      n: true,
    });
  });
});

import { afterAll, beforeAll, expect, it } from "vitest";
import type { SandboxPool } from "../../src/pool.ts";
import { openPool, runSource } from "../sandbox-harness.ts";

/**
 * Ways to keep a value for the next run. Each defines `slots(ctx)`, which returns the objects that might outlive the run;
 * `kept` is then read from and written to each of them.
 */
const WAYS: Readonly<Record<string, string>> = {
  "a variable of the module": "const all = []; const slots = () => [all]",
  "a property of a function of the module": "function slots() { return [slots] }",
  "the global object": "const slots = () => [globalThis, Function('return this')(), (0, eval)('this')]",
  "a global variable":
    "const slots = () => { try { (0, eval)('var shelf = {}') } catch {} return typeof shelf === 'object' ? [shelf] : [] }",
  "a global lexical variable":
    "const slots = () => { try { (0, eval)('let shelf = {}; globalThis.f = () => shelf') } catch {} return [] }",
  "the object of a template":
    "const tag = (strings) => strings; const slots = () => { const t = tag`a`; return [t, t.raw] }",
  "a regular expression's last index":
    "const slots = () => { const p = /a/g; if (p.lastIndex > 0) return [{ kept: 'index' }]; p.test('a'); return [p] }",
  "a registered symbol": "const slots = () => [Symbol.for('shelf'), Object(Symbol.for('shelf')).constructor]",
  "the arguments of the run": "const slots = (ctx, args) => [args]",
  "the context of the run": "const slots = (ctx) => [ctx, ...Object.values(ctx)]",
  "the function that called the handler": "const slots = () => []; export default SLOPPY",
  "the function that reads the result": "const slots = () => []; const RESULT = true",
  "the function that reads a log line":
    "const slots = (ctx) => { const found = []; ctx.log({ toJSON: callerInto(found) }); return found }",
  "the function that reads the arguments of a host call":
    "const slots = (ctx) => { const found = []; void ctx.callTool({ toJSON: callerInto(found) }); return found }",
  "the function that resolves a host call":
    "const slots = async (ctx) => { const found = []; await { then(resolve) { found.push(resolve); callerInto(found)(); resolve() } }; return found }",
  "the error's stack":
    "const slots = () => { const found = []; try { Error.prepareStackTrace = (e, sites) => sites } catch {} const e = new Error(); if (Array.isArray(e.stack)) found.push(...e.stack.map((s) => s.getFunction?.())); return found }",
};

/** `callerInto(found)` is a sloppy function that adds its caller to `found`. */
const CALLER_INTO =
  'const callerInto = Function("found", "return function f() { const c = f.caller; if (c) found.push(c); return 1 }");';

function sourceOf(way: string): string {
  const handler = `async (args, ctx) => {
    const seen = [];
    for (const slot of await slots(ctx, args)) {
      if (slot === null || (typeof slot !== "object" && typeof slot !== "function")) continue;
      if (slot.kept !== undefined) seen.push(String(slot.kept));
      try { slot.kept = args.value } catch {}
      try { if (Array.isArray(slot)) slot.push(args.value), slot.length > 1 && seen.push(String(slot[0])) } catch {}
      try { Object.defineProperty(slot, "kept", { value: args.value, configurable: true, writable: true }) } catch {}
      try { Object.setPrototypeOf(slot, { kept: args.value }) } catch {}
    }
    return seen.filter((value) => value !== args.value);
  }`;
  if (way.includes("SLOPPY")) {
    const sloppy =
      'const h = Function("return function h(args) { const c = h.caller; const kept = c && c.kept; if (c) c.kept = args.value; return kept ? [kept] : [] }")(); export default h';
    return sloppy;
  }
  if (way.includes("RESULT")) {
    const result =
      'Function("value", "return function f() { const c = f.caller; const kept = c && c.kept; if (c) c.kept = value; return kept ? [kept] : [] }")';
    return `export default async (args) => ({ toJSON: ${result}(args.value) })`;
  }
  return `${CALLER_INTO} ${way}; export default ${handler}`;
}

let pool: SandboxPool;
beforeAll(() => {
  pool = openPool();
});
afterAll(() => pool[Symbol.asyncDispose]());

it.each(Object.entries(WAYS).map(([name, way]) => ({ name, way })))(
  "[TOOL-2] $name keeps nothing from one run to the next",
  async ({ way }) => {
    const source = sourceOf(way);
    for (const value of ["first", "second", "third"]) {
      const outcome = await runSource(pool, source, { args: { value } });
      expect(outcome).toMatchObject({ kind: "ok", resultJson: "[]" });
    }
    // What one tool does to its realm is not seen by another, not even of the same workspace.
    const other = await runSource(pool, `/* another tool */ ${source}`, { args: { value: "other" } });
    expect(other).toMatchObject({ kind: "ok", resultJson: "[]" });
  },
);

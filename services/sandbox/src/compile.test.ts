import { runInThisContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileHandler, MAX_SOURCE_BYTES } from "./compile.ts";

const message = (source: string) => {
  const result = compileHandler(source);
  return result.ok
    ? "ok"
    : result.violations.map((violation) => `${violation.line}:${violation.column} ${violation.message}`).join("; ");
};

describe("compileHandler", () => {
  it.each([
    "export default async (args, ctx) => ({})",
    "export default (async (args) => { return args })\n",
    "const f = async () => 1; export default f",
    "export default async function main(args) { return main.name }",
    "export default function () { return K }\nconst K = 1",
    "export /* a */ default /* b */ async () => 1; // end",
    "const $handler = 1; export default () => $handler",
    "const console = { log() {} }; export default () => 1",
    "export default () => 1 // no newline at the end",
  ])("[TOOL-1] accepts %j and the result evaluates to a factory of functions", (source) => {
    const result = compileHandler(source);
    if (!result.ok) throw new Error(JSON.stringify(result.violations));
    const handler = runInThisContext(result.code)(console);
    expect(typeof handler).toBe("function");
  });

  it.each([
    ["const a = 1;\nexport default async () => { return }}", "2:38 Unexpected token"],
    ["let a = 1", "1:1 The default export is missing: export default async (args, ctx) => { … }"],
    ["export default 5", "1:1 The default export must be a function"],
    ["export default class {}", "1:1 The default export must be a function"],
    ["import x from 'x';\nexport default () => x", "1:1 A handler cannot import modules"],
    ["export default async () => import('fs')", "1:28 A handler cannot import modules"],
    ["export default () => import.meta.url", "1:22 import.meta is not available in a handler"],
    ["export const a = 1; export default () => 1", "1:1 A handler exports nothing but its default function"],
    ["export default () => 1; export default () => 2", "1:32 Duplicate export 'default'"],
    ["await 1; export default () => 1", "1:1 await outside of a function is not available in a handler"],
    ["export default () => 1; with (a) {}", "1:25 'with' in strict mode"],
  ])("[TOOL-1] refuses %j and says where", (source, expected) => {
    expect(message(source)).toBe(expected);
  });

  it("[TOOL-1] a source that is too large or nested too deeply is refused", () => {
    expect(message(`export default () => 1 //${"x".repeat(MAX_SOURCE_BYTES)}`)).toContain("larger than");
    expect(message(`export default () => ${"(".repeat(100_000)}1${")".repeat(100_000)}`)).toContain(
      "nested too deeply",
    );
  });

  it.each([
    "export default () => 1; x<!--y /*\n})();}); evil(); (function(){return (function(){ //*/",
    "let x, y; export default () => 1; x<!--y; /*\n})(), (function(){ //*/\n",
    "let x, y; export default () => 1; x<!--y; /*\n})().x(function(){ //*/\n",
  ])("[TOOL-2] %j cannot use the differences between module and script to leave the factory", (source) => {
    expect(compileHandler(source).ok).toBe(false);
  });

  it("[TOOL-1] any text gives a result or violations with positions inside the text, and never throws", () => {
    const word = fc.constantFrom(
      "export",
      "default",
      "async",
      "=>",
      "(",
      ")",
      "{",
      "}",
      "<!--",
      "*/",
      "/*",
      "\n",
      "x",
      "`",
      "${",
      "'",
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(word, fc.string({ maxLength: 5 })), { maxLength: 20 }), (words) => {
        const source = words.join(" ");
        const result = compileHandler(source);
        if (result.ok) return;
        const lines = source.split(/\r\n|[\n\r\u2028\u2029]/u).length;
        expect(result.violations.length).toBeGreaterThan(0);
        for (const violation of result.violations) {
          expect(violation.line).toBeGreaterThanOrEqual(1);
          expect(violation.line).toBeLessThanOrEqual(lines + 1);
          expect(violation.column).toBeGreaterThanOrEqual(1);
        }
      }),
    );
  });
});

import { Script } from "node:vm";
import { type ExportDefaultDeclaration, type MetaProperty, type Node, type Program, parse } from "acorn";
import { FACTORY_HEAD, FACTORY_TAIL, SOURCE_NAME } from "./protocol/messages.ts";

export const MAX_SOURCE_BYTES = 256 * 1024;
const ECMA_VERSION = 2024;
const FUNCTION_TYPES: ReadonlySet<string> = new Set([
  "FunctionDeclaration",
  "FunctionExpression",
  "ArrowFunctionExpression",
]);

type SourceViolation = { line: number; column: number; message: string };
export type CompileResult = { ok: true; code: string } | { ok: false; violations: SourceViolation[] };

/**
 * Checks a handler's source, an ES module with one default export, and turns it into the text of a factory. The factory
 * is called for every run, so what a module keeps at its top level does not outlive a run. Nothing is executed here.
 */
export function compileHandler(source: string): CompileResult {
  if (Buffer.byteLength(source) > MAX_SOURCE_BYTES) {
    const message = `The handler is larger than ${MAX_SOURCE_BYTES} bytes`;
    return { ok: false, violations: [{ line: 1, column: 1, message }] };
  }
  let headChars = 0;
  try {
    const program = parse(source, {
      ecmaVersion: ECMA_VERSION,
      sourceType: "module",
      locations: true,
      preserveParens: true,
    });
    const violations = findViolations(program);
    if (violations.length > 0) return { ok: false, violations };
    const code = toFactory(source, program);
    headChars = FACTORY_HEAD.length;
    checkFactory(code);
    return { ok: true, code };
  } catch (error) {
    return { ok: false, violations: [toViolation(error, headChars)] };
  }
}

function findViolations(program: Program): SourceViolation[] {
  const violations: SourceViolation[] = [];
  const add = (node: Node, message: string) => {
    violations.push({ line: node.loc?.start.line ?? 1, column: (node.loc?.start.column ?? 0) + 1, message });
  };
  for (const statement of program.body) {
    if (statement.type === "ImportDeclaration") add(statement, "A handler cannot import modules");
    else if (statement.type === "ExportNamedDeclaration" || statement.type === "ExportAllDeclaration") {
      add(statement, "A handler exports nothing but its default function");
    }
  }
  const exported = defaultExport(program);
  if (exported === undefined) add(program, "The default export is missing: export default async (args, ctx) => { … }");
  else if (!mayBeFunction(exported.declaration)) add(exported, "The default export must be a function");
  for (const { node, inFunction } of nodesOf(program)) {
    if (!inFunction && (node.type === "AwaitExpression" || ("await" in node && node.await === true))) {
      add(node, "await outside of a function is not available in a handler");
    }
    if (node.type === "ImportExpression") add(node, "A handler cannot import modules");
    if (node.type === "MetaProperty" && (node as MetaProperty).meta.name === "import") {
      add(node, "import.meta is not available in a handler");
    }
  }
  return violations;
}

function defaultExport(program: Program): ExportDefaultDeclaration | undefined {
  return program.body.find((statement) => statement.type === "ExportDefaultDeclaration");
}

function mayBeFunction(declaration: ExportDefaultDeclaration["declaration"]): boolean {
  let inner = declaration;
  while (inner.type === "ParenthesizedExpression") inner = inner.expression;
  return inner.type === "Identifier" || FUNCTION_TYPES.has(inner.type);
}

/** Every node of the tree, without recursion because a source may be nested deeply. */
function* nodesOf(root: Node): Generator<{ node: Node; inFunction: boolean }> {
  const pending: [value: unknown, inFunction: boolean][] = [[root, false]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [value, inFunction] = next;
    if (typeof value !== "object" || value === null) continue;
    const isNode = "type" in value && typeof value.type === "string";
    if (isNode) yield { node: value as Node, inFunction };
    else if (!Array.isArray(value)) continue;
    const inside = inFunction || (isNode && FUNCTION_TYPES.has(value.type as string));
    for (const part of Object.values(value)) pending.push([part, inside]);
  }
}

function toFactory(source: string, program: Program): string {
  const exported = defaultExport(program);
  if (exported === undefined) throw new SyntaxError("The default export is missing");
  const { declaration } = exported;
  const before = source.slice(0, exported.start);
  const after = source.slice(declaration.start);
  if (declaration.type === "FunctionDeclaration" && declaration.id !== null) {
    return `${FACTORY_HEAD}${before}${after}\n;return ${declaration.id.name};${FACTORY_TAIL}`;
  }
  let dollars = 0;
  for (const [found] of source.matchAll(/\$handler\$*/g)) dollars = Math.max(dollars, found.length);
  const name = "$handler".padEnd(dollars + 1, "$");
  const end = declaration.end - declaration.start;
  return `${FACTORY_HEAD}${before}const ${name}=${after.slice(0, end)};${after.slice(end)}\n;return ${name};${FACTORY_TAIL}`;
}

/**
 * The source was a module and the factory is a script, and the two grammars differ (`<!--` opens a comment in only one
 * of them). So the factory must prove to be one function expression, and compile in the engine that will run it.
 */
function checkFactory(code: string): void {
  const program = parse(code, { ecmaVersion: ECMA_VERSION, sourceType: "script", locations: true });
  if (!isOneFactory(program)) throw new SyntaxError("The handler does not parse as one module");
  new Script(code, { filename: SOURCE_NAME, columnOffset: -FACTORY_HEAD.length });
}

function isOneFactory(program: Program): boolean {
  const [outer, ...more] = program.body;
  if (more.length > 0 || outer?.type !== "ExpressionStatement") return false;
  if (outer.expression.type !== "FunctionExpression") return false;
  const [inner, ...rest] = outer.expression.body.body;
  if (rest.length > 0 || inner?.type !== "ReturnStatement" || inner.argument?.type !== "CallExpression") return false;
  return inner.argument.callee.type === "FunctionExpression" && inner.argument.arguments.length === 0;
}

function toViolation(error: unknown, headChars: number): SourceViolation {
  if (error instanceof RangeError || String(error).includes("Not enough stack")) {
    return { line: 1, column: 1, message: "The handler is nested too deeply" };
  }
  if (!(error instanceof SyntaxError)) throw error;
  const { loc } = error as SyntaxError & { loc?: { line: number; column: number } };
  const line = loc?.line ?? Number(/^tool\.js:(\d+)/u.exec(error.stack ?? "")?.[1] ?? 1);
  const column = loc === undefined ? 0 : loc.column - (line === 1 ? headChars : 0);
  return { line, column: Math.max(0, column) + 1, message: error.message.replace(/ \(\d+:\d+\)$/u, "") };
}

import { Script } from "node:vm";
import {
  type ExportDefaultDeclaration,
  type ForOfStatement,
  type Node,
  type ParenthesizedExpression,
  type Program,
  parse,
} from "acorn";
import { FACTORY_HEAD, FACTORY_TAIL, SOURCE_NAME } from "./protocol/messages.ts";

export const MAX_SOURCE_BYTES = 256 * 1024;
const ECMA_VERSION = 2024;

export type SourceFault = { line: number; column: number; message: string };
export type CompileResult = { ok: true; code: string } | { ok: false; faults: SourceFault[] };

/**
 * Checks a handler's source (an ES module with nothing but one default export) and turns it into the text of a
 * factory. The factory is called for every run, so what a module keeps at its top level never outlives a run.
 * Nothing of the source is executed here.
 */
export function compileHandler(source: string): CompileResult {
  if (Buffer.byteLength(source) > MAX_SOURCE_BYTES) {
    return refuse(1, 1, `The handler is larger than ${MAX_SOURCE_BYTES} bytes`);
  }
  let headChars = 0;
  try {
    const program = parse(source, {
      ecmaVersion: ECMA_VERSION,
      sourceType: "module",
      locations: true,
      allowAwaitOutsideFunction: false,
      preserveParens: true,
    });
    const faults = findFaults(program);
    if (faults.length > 0) return { ok: false, faults };
    const code = splice(source, program);
    headChars = FACTORY_HEAD.length;
    checkSpliced(code);
    return { ok: true, code };
  } catch (error) {
    return { ok: false, faults: [toFault(error, headChars)] };
  }
}

function refuse(line: number, column: number, message: string): CompileResult {
  return { ok: false, faults: [{ line, column, message }] };
}

function findFaults(program: Program): SourceFault[] {
  const faults: SourceFault[] = [];
  const blame = (node: Node, message: string) => {
    faults.push({ line: node.loc?.start.line ?? 1, column: (node.loc?.start.column ?? 0) + 1, message });
  };
  const defaults: ExportDefaultDeclaration[] = [];
  for (const statement of program.body) {
    if (statement.type === "ImportDeclaration") blame(statement, "A handler cannot import modules");
    else if (statement.type === "ExportDefaultDeclaration") defaults.push(statement);
    else if (statement.type === "ExportNamedDeclaration" || statement.type === "ExportAllDeclaration") {
      blame(statement, "A handler exports nothing but its default function");
    }
  }
  const found = defaults[0];
  if (found === undefined) blame(program, "The default export is missing: export default async (args, ctx) => { … }");
  else if (!HANDLER_TYPES.has(withoutParens(found.declaration).type))
    blame(found, "The default export must be a function");
  visit(program, (node) => {
    if (node.type === "AwaitExpression" || (node.type === "ForOfStatement" && (node as ForOfStatement).await)) {
      blame(node, "await outside of a function is not available in a handler");
    }
    return !FUNCTION_TYPES.has(node.type);
  });
  visit(program, (node) => {
    if (node.type === "ImportExpression") blame(node, "A handler cannot import modules");
    if (node.type === "MetaProperty" && (node as Node & { meta: { name: string } }).meta.name === "import") {
      blame(node, "import.meta is not available in a handler");
    }
    return true;
  });
  return faults;
}

const HANDLER_TYPES: ReadonlySet<string> = new Set([
  "FunctionDeclaration",
  "FunctionExpression",
  "ArrowFunctionExpression",
  "Identifier",
]);

function withoutParens(node: Node): Node {
  let inner = node;
  while (inner.type === "ParenthesizedExpression") inner = (inner as ParenthesizedExpression).expression;
  return inner;
}

const FUNCTION_TYPES: ReadonlySet<string> = new Set([
  "FunctionDeclaration",
  "FunctionExpression",
  "ArrowFunctionExpression",
]);

/** Calls `look` for every node, and for what is below it where that returned true. */
function visit(root: Node, look: (node: Node) => boolean): void {
  const pending: unknown[] = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    if (Array.isArray(value)) pending.push(...value);
    else if (typeof value === "object" && value !== null && "type" in value && typeof value.type === "string") {
      if (look(value as Node)) pending.push(...Object.values(value));
    }
  }
}

function splice(source: string, program: Program): string {
  const exported = program.body.find((statement) => statement.type === "ExportDefaultDeclaration");
  if (exported === undefined) throw new SyntaxError("The default export is missing");
  const { declaration } = exported;
  const before = source.slice(0, exported.start);
  const after = source.slice(declaration.start);
  if (declaration.type === "FunctionDeclaration" && declaration.id !== null) {
    return `${FACTORY_HEAD}${before}${after}\n;return ${declaration.id.name};${FACTORY_TAIL}`;
  }
  let name = "$handler";
  while (source.includes(name)) name += "$";
  const end = declaration.end - declaration.start;
  return `${FACTORY_HEAD}${before}const ${name}=${after.slice(0, end)};${after.slice(end)}\n;return ${name};${FACTORY_TAIL}`;
}

/**
 * The spliced text is a script and the source was a module; the two grammars differ (`<!--` opens a comment in one
 * of them), so the result must prove to be one function expression, for the engine that will run it too.
 */
function checkSpliced(code: string): void {
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

function toFault(error: unknown, headChars: number): SourceFault {
  const message = error instanceof Error ? error.message : "";
  if (error instanceof RangeError || message.startsWith("Not enough stack"))
    return { line: 1, column: 1, message: "The handler is nested too deeply" };
  if (!(error instanceof SyntaxError)) throw error;
  const place = (error as SyntaxError & { loc?: { line: number; column: number } }).loc;
  const line = place?.line ?? Number(ENGINE_PLACE.exec(error.stack ?? "")?.[1] ?? 1);
  const column = place === undefined ? 0 : place.column - (line === 1 ? headChars : 0);
  return { line, column: Math.max(0, column) + 1, message: message.replace(/ \(\d+:\d+\)$/u, "") };
}

const ENGINE_PLACE = /^tool\.js:(\d+)/u;

import { execFile } from "node:child_process";
import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { create } from "@bufbuild/protobuf";
import { ToolDescriptionSchema } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { expect, test } from "vitest";
import { toolDeclarations } from "../src/domain/descriptions/declarations.ts";

const run = promisify(execFile);
const TSC = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");

const parameters = {
  type: "object",
  required: ["city", 'it\'s \u2028 "odd"'],
  properties: {
    city: { type: "string", enum: ["Bern", 'a"b\\c\n'], description: "Ends */ no comment\r\nof two lines" },
    'it\'s \u2028 "odd"': { type: ["integer", "null"] },
    tags: { type: "array", items: { type: "string" } },
    nested: { type: "object", properties: { deep: { oneOf: [{ const: 1 }, { type: "boolean" }] } } },
    any: { $ref: "#/$defs/x" },
    both: { allOf: [{ properties: { a: { type: "string" } } }, { properties: { b: { type: "string" } } }] },
  },
};
const DECLARATIONS = toolDeclarations([
  create(ToolDescriptionSchema, {
    name: "find-orders",
    description: "Finds */ orders",
    parametersJson: JSON.stringify(parameters),
  }),
  create(ToolDescriptionSchema, { name: "constructor", readOnly: true }),
]);

const VALID = `{ city: "Bern", "it's \\u2028 \\"odd\\"": null, tags: ["a"], nested: { deep: true }, any: 5, both: { a: "", b: "" } }`;
/** The compiler reports an expected error that does not come. */
const USE = `
import type { ToolArgs, ToolName, Failure } from "./openapi.d.ts";
export const args: ToolArgs<"find-orders"> = ${VALID};
export const name: ToolName = "constructor";
// @ts-expect-error: not in the enum
export const otherCity: ToolArgs<"find-orders"> = { city: "Basel", "it's \\u2028 \\"odd\\"": 1 };
// @ts-expect-error: a required argument is missing
export const incomplete: ToolArgs<"find-orders"> = { city: "Bern" };
// @ts-expect-error: no such tool
export const otherTool: ToolName = "elsewhere";
`;

test("[OAPI-4] declarations compile with any names and texts, and accept only arguments that fit the schema", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "toolgate-declarations-"));
  const files = [join(folder.path, "openapi.d.ts"), join(folder.path, "use.ts")] as const;
  await writeFile(files[0], DECLARATIONS);
  await writeFile(files[1], USE);
  const options = ["--noEmit", "--strict", "--module", "nodenext", "--allowImportingTsExtensions", "--types", ""];
  const compiled = run(process.execPath, [TSC, "--ignoreConfig", ...options, ...files], { cwd: folder.path });
  expect((await compiled.catch((error: { stdout: string }) => error)).stdout).toBe("");
});

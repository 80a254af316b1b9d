import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { create } from "@bufbuild/protobuf";
import { ToolDescriptionSchema } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
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

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolgate-declarations-"));
  await writeFile(join(folder, "openapi.d.ts"), DECLARATIONS);
});
afterAll(() => rm(folder, { recursive: true }));

async function compile(code: string): Promise<string> {
  await writeFile(
    join(folder, "use.ts"),
    `import type { ToolArgs, ToolName, Failure } from "./openapi.d.ts";\n${code}`,
  );
  const options = ["--noEmit", "--strict", "--module", "nodenext", "--allowImportingTsExtensions", "--types", ""];
  const files = [join(folder, "use.ts"), join(folder, "openapi.d.ts")];
  return run(process.execPath, [TSC, "--ignoreConfig", ...options, ...files], { cwd: folder }).then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  );
}

test("[OAPI-4] the declarations compile with any names and texts in the schemas, and accept valid arguments", async () => {
  const args = `{ city: "Bern", "it's \\u2028 \\"odd\\"": null, tags: ["a"], nested: { deep: true }, any: 5, both: { a: "", b: "" } }`;
  expect(
    await compile(
      `export const args: ToolArgs<"find-orders"> = ${args};\nexport const name: ToolName = "constructor";`,
    ),
  ).toBe("");
});

test("[OAPI-4] arguments that violate the schema are a type error", async () => {
  expect(
    await compile(`export const args: ToolArgs<"find-orders"> = { city: "Basel", "it's \\u2028 \\"odd\\"": 1 };`),
  ).toContain("Basel");
  expect(await compile(`export const args: ToolArgs<"find-orders"> = { city: "Bern" };`)).toContain("odd");
  expect(await compile(`export const name: ToolName = "elsewhere";`)).toContain("elsewhere");
});

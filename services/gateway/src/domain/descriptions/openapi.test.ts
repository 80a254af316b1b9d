import { create } from "@bufbuild/protobuf";
import { Validator } from "@seriousme/openapi-schema-validator";
import { type ToolDescription, ToolDescriptionSchema } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { openApiDocument, withServer } from "./openapi.ts";

function tool(
  name: string,
  fields: { parameters?: unknown; response?: unknown; fixture?: unknown; description?: string },
) {
  const json = (value: unknown) => (value === undefined ? "" : JSON.stringify(value));
  return create(ToolDescriptionSchema, {
    name,
    description: fields.description ?? `Tool ${name}`,
    parametersJson: json(fields.parameters),
    responseJson: json(fields.response),
    argsFixtureJson: json(fields.fixture),
    readOnly: true,
  });
}

const TOOLS: ToolDescription[] = [
  tool("plain", {}),
  tool("orders", {
    description: "Finds orders.\nBy city */ and more.",
    parameters: {
      type: "object",
      properties: {
        city: { type: "string", maxLength: 20, pattern: "^[A-Z]", examples: ["Bern"] },
        tree: { $ref: "#/definitions/node" },
      },
      required: ["city"],
      definitions: { node: { type: "object", properties: { next: { $ref: "#/definitions/node" } } } },
    },
    response: { type: "object", properties: { success: { type: "boolean" }, count: { type: "integer" } } },
  }),
  tool("odd", {
    parameters: {
      type: ["object", "null"],
      required: true,
      properties: { a: { $ref: "http://localhost:1/x" }, b: { type: "array", items: [{}] }, "c/d~e": { minimum: "x" } },
    },
    fixture: { a: 1 },
  }),
];

type Operation = {
  description: string;
  summary: string;
  requestBody: { content: Record<string, { schema: unknown; example?: { args: unknown } }> };
  responses: Record<string, unknown>;
};
type Document = {
  openapi: string;
  servers: unknown;
  paths: Record<string, { post: Operation }>;
  components: { schemas: Record<string, object>; responses: Record<string, { headers: object; content: object }> };
};

const documentOf = (tools: typeof TOOLS, baseUrl: string) =>
  JSON.parse(withServer(Buffer.from(JSON.stringify(openApiDocument(tools))), baseUrl).toString("utf8"));
const document = documentOf(TOOLS, "https://api.example.com") as Document;

test("[VER-2] [OAPI] an independent validator accepts the document with its references and schemas", async () => {
  const validator = new Validator();
  expect(await validator.validate(structuredClone(document))).toMatchObject({ valid: true });
  validator.resolveRefs();
  expect(document.openapi).toBe("3.1.0");
  const ajv = new Ajv2020({ strict: false, formats: { int64: true, double: true } });
  for (const schema of Object.values(document.components.schemas)) expect(ajv.validateSchema(schema)).toBe(true);
  ajv.addSchema({ $id: "doc", ...structuredClone(document) });
  for (const name of Object.keys(document.components.schemas)) {
    expect(ajv.getSchema(`doc#/components/schemas/${name}`), name).toBeTypeOf("function");
  }
});

test("[OAPI-5] [OAPI-6] descriptions and response schemas are in the document, or else any object", () => {
  const { orders, plain } = { orders: operation("orders"), plain: operation("plain") };
  expect(orders.summary).toBe("Finds orders.");
  expect(orders.description).toContain("By city */ and more.");
  expect(document.components.schemas["orders.result"]).toMatchObject({ properties: { count: { type: "integer" } } });
  expect(document.components.schemas["plain.result"]).toEqual({
    type: "object",
    additionalProperties: true,
  });
  expect(plain.requestBody).toMatchObject({ required: true });
  expect(JSON.stringify(document.components)).not.toMatch(/"type":"boolean","const"/);
  expect(plain.requestBody.content["application/json"]?.example).toEqual({ args: {} });
});

test("[OAPI-4] definitions are components of their own, whatever their names; those that nothing refers to are left out", () => {
  const definitions = {
    "a/b~ü": { type: "object", properties: { next: { $ref: "#/$defs/a~1b~0ü" }, leaf: { $ref: "#/$defs/leaf" } } },
    leaf: { type: "string" },
    unused: { $ref: "#/$defs/unused" },
  };
  const parameters = {
    properties: { tree: { $ref: "#/$defs/a~1b~0ü" }, leaf: { $ref: "#/$defs/leaf" } },
    $defs: definitions,
  };
  const { components } = openApiDocument([tool("odd", { parameters, response: parameters })]) as unknown as Document;
  const hex = Buffer.from("a/b~ü").toString("hex");
  const own = Object.keys(components.schemas).filter((name) => name.startsWith("odd."));
  expect(own.toSorted()).toEqual(
    ["args", "result"].flatMap((part) => [`odd.${part}`, `odd.${part}.hex.${hex}`, `odd.${part}.leaf`]),
  );
  expect(components.schemas["odd.args"]).toEqual({
    type: "object",
    properties: {
      tree: { $ref: `#/components/schemas/odd.args.hex.${hex}` },
      leaf: { $ref: "#/components/schemas/odd.args.leaf" },
    },
  });
});

test("[BLD-5] [BLD-6] examples come from the fixture or the schema, and pass it", () => {
  expect(operation("odd").requestBody.content["application/json"]?.example).toEqual({ args: { a: 1 } });
  expect(operation("orders").requestBody.content["application/json"]?.example).toEqual({
    args: { city: "Bern" },
  });
});

test("[OAPI] [BLD-6] a document with deeply nested lists is short and valid", async () => {
  let lists: object = { type: "string" };
  for (let level = 0; level < 10; level += 1) lists = { type: "array", minItems: 20, items: lists };
  const nested = documentOf(
    [
      tool("optional", { parameters: { properties: { lists, city: {} } } }),
      tool("required", { parameters: { properties: { lists }, required: ["lists"] } }),
    ],
    "/",
  ) as Document;
  expect(await new Validator().validate(structuredClone(nested))).toMatchObject({ valid: true });
  const examples = Object.values(nested.paths).map(({ post }) => post.requestBody.content["application/json"]?.example);
  expect(examples).toEqual([{ args: { city: "example" } }, undefined]);
});

function operation(name: string): Operation {
  const found = document.paths[`/api/v1/tools/${name}`];
  if (!found) throw new Error(`no path for ${name}`);
  return found.post;
}

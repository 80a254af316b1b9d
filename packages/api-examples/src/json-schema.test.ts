import { expect, test } from "vitest";
import { portableSchema, separatedSchema } from "./json-schema.ts";

const BASE = "#/components/schemas/echo.args";

test("[OAPI-4] a schema keeps its meaning in its new place: references to itself and its definitions are adjusted", () => {
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    $id: "https://internal.example/echo",
    type: "object",
    definitions: {
      node: { type: "object", properties: { next: { $ref: "#/definitions/node" }, root: { $ref: "#" } } },
    },
    properties: { head: { $ref: "#/definitions/node" } },
  };
  const node = { $ref: `${BASE}/$defs/node` };
  expect(portableSchema(schema, BASE)).toEqual({
    type: "object",
    $defs: { node: { type: "object", properties: { next: node, root: { $ref: BASE } } } },
    properties: { head: node },
  });
});

test("[OAPI-4] all other references are dropped, so that no reader of the document follows them", () => {
  for (const $ref of ["https://elsewhere.example/a.json", "#/definitions/missing", "other.json", "#/properties/a"]) {
    expect(portableSchema({ properties: { a: { $ref, type: "string" } } }, BASE)).toEqual({
      properties: { a: { type: "string" } },
    });
  }
});

test("[OAPI-4] parameters may be named like keywords or __proto__", () => {
  const schema = JSON.parse('{"properties":{"$ref":{"type":"string"},"__proto__":{"type":"integer"},"items":{}}}');
  const moved = portableSchema(schema, BASE);
  expect(JSON.stringify(moved)).toBe(JSON.stringify(schema));
  expect(Object.getPrototypeOf(moved.properties)).toBe(Object.prototype);
});

test("[OAPI] keywords that are not JSON Schema 2020-12 are left out or converted", () => {
  const schema = {
    type: [],
    required: true,
    minimum: 3,
    exclusiveMinimum: true,
    maxLength: -1,
    prompt: "shown to the model only",
    properties: { pair: { type: "array", items: [{ type: "string" }, { type: "number" }] }, none: false, odd: "x" },
  };
  expect(portableSchema(schema, BASE)).toEqual({
    minimum: 3,
    properties: {
      pair: { type: "array", prefixItems: [{ type: "string" }, { type: "number" }] },
      none: { not: {} },
      odd: {},
    },
  });
  expect(portableSchema("no schema", BASE)).toEqual({});
});

test("[OAPI-4] [OAPI-6] for generators of clients, numbers have a format that holds them; all else stays", () => {
  const schema = {
    properties: {
      id: { type: "integer" },
      price: { type: ["number", "null"] },
      type: { type: "integer", format: "int32", enum: [{ type: "integer" }] },
      either: { type: ["integer", "string"] },
      name: { type: "string" },
      list: { type: "array", items: { $ref: "#/$defs/count" } },
    },
    $defs: { count: { type: "integer", default: 1 } },
  };
  const formatted = separatedSchema(schema, BASE, (name) => `${BASE}.${name}`);
  expect(formatted.schema).toEqual({
    properties: {
      ...schema.properties,
      id: { type: "integer", format: "int64" },
      price: { type: ["number", "null"], format: "double" },
      list: { type: "array", items: { $ref: `${BASE}.count` } },
    },
  });
  expect(formatted.definitions).toEqual([["count", { type: "integer", default: 1, format: "int64" }]]);
  expect(JSON.stringify(portableSchema(schema, BASE))).not.toMatch(/int64|double/);
});

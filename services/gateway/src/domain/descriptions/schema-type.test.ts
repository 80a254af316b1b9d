import { expect, test } from "vitest";
import { schemaType } from "./schema-type.ts";

test("[OAPI] each schema is written once, however often its type is repeated", () => {
  let reads = 0;
  const levels = 12;
  let schema: object = { type: "string" };
  for (let level = 0; level < levels; level += 1) {
    const items = schema;
    schema = {
      type: ["array", "array", "null"],
      get items() {
        reads += 1;
        return items;
      },
    };
  }
  expect(schemaType(schema, "")).toBe(`${"Array<".repeat(levels)}string${"> | null".repeat(levels)}`);
  expect(reads).toBe(levels);
});

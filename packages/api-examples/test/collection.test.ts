import { COLLECTION_SCHEMA } from "@toolgate/testbed/collection-schema";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { collection } from "../src/collection.ts";

const url = "https://api.example.com:8443/api/v1/tools/greet";
const about = { description: "Greets.", result: { success: true } };

test("[BLD-13] a collection has the structure of v2.1 and the call's body, in which no client replaces variables", () => {
  const validate = new Ajv2020().compile(COLLECTION_SCHEMA);
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.oneof(fc.jsonValue(), fc.constant("{{{apiKey}}}"))), (args) => {
      const made = collection({ tool: "greet", url, args }, about);
      expect(validate(made), JSON.stringify(validate.errors)).toBe(true);
      const [raw = ""] = made.item.map(({ request }) => request.body.raw);
      expect(JSON.parse(raw)).toEqual(JSON.parse(JSON.stringify({ args })));
      expect(raw).not.toContain("{{");
    }),
  );
});

test("[BLD-14] the key is the variable apiKey, which is empty", () => {
  const made = collection({ tool: "greet", url, args: {} }, about);
  expect(made.variable).toEqual([{ key: "apiKey", value: "", type: "string" }]);
  expect(made.auth.bearer).toEqual([{ key: "token", value: "{{apiKey}}", type: "string" }]);
  expect(made.item[0]?.request.url).toEqual({
    raw: url,
    protocol: "https",
    host: ["api", "example", "com"],
    port: "8443",
    path: ["api", "v1", "tools", "greet"],
  });
});

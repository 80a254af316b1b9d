import fc from "fast-check";
import { expect, test } from "vitest";
import { collection } from "../src/collection.ts";

const url = "https://api.example.com:8443/api/v1/tools/greet";
const about = { description: "Greets.", result: { success: true } };

test("[BLD-13] [BLD-14] a collection has the structure of v2.1, with the key as an empty variable apiKey", () => {
  const made = collection({ tool: "greet", url, args: {} }, about);
  const json = [{ key: "Content-Type", value: "application/json" }];
  const request = {
    method: "POST",
    header: json,
    url: {
      raw: url,
      protocol: "https",
      host: ["api", "example", "com"],
      port: "8443",
      path: ["api", "v1", "tools", "greet"],
    },
    body: { mode: "raw", raw: '{\n  "args": {}\n}', options: { raw: { language: "json" } } },
    description: "Greets.",
  };
  const body = '{\n  "success": true\n}';
  const response = { name: "200", originalRequest: request, status: "OK", code: 200, header: json, body };
  const schema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";
  expect(made).toEqual({
    info: { name: "greet", description: "Greets.", schema },
    auth: { type: "bearer", bearer: [{ key: "token", value: "{{apiKey}}", type: "string" }] },
    variable: [{ key: "apiKey", value: "", type: "string" }],
    item: [{ name: "greet", request, response: [response] }],
  });
});

test("[BLD-13] the request has the call's body, in which no client replaces variables", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.oneof(fc.jsonValue(), fc.constant("{{{apiKey}}}"))), (args) => {
      const [raw = ""] = collection({ tool: "greet", url, args }, about).item.map(({ request }) => request.body.raw);
      expect(JSON.parse(raw)).toEqual(JSON.parse(JSON.stringify({ args })));
      expect(raw).not.toContain("{{");
    }),
  );
});

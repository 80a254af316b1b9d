import type { JsonObject } from "@toolgate/rules/json-object";
import type { ExampleCall } from "./example-call.ts";

const SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";
const JSON_TYPE = { key: "Content-Type", value: "application/json" };

/**
 * [BLD-13] [BLD-14] The call as a collection for API clients, in the format v2.1. It has no key: whoever imports it fills in
 * the variable `apiKey`.
 */
export function collection(call: ExampleCall, { description, result }: { description: string; result: JsonObject }) {
  const url = new URL(call.url);
  const request = {
    method: "POST",
    header: [JSON_TYPE],
    url: {
      raw: call.url,
      protocol: url.protocol.slice(0, -1),
      host: url.hostname.split("."),
      ...(url.port !== "" && { port: url.port }),
      path: url.pathname.slice(1).split("/"),
    },
    body: { mode: "raw", raw: withoutVariables({ args: call.args }), options: { raw: { language: "json" } } },
    description,
  };
  const response = {
    name: "200",
    originalRequest: request,
    status: "OK",
    code: 200,
    header: [JSON_TYPE],
    body: JSON.stringify(result, null, 2),
  };
  return {
    info: { name: call.tool, description, schema: SCHEMA },
    auth: { type: "bearer", bearer: [{ key: "token", value: "{{apiKey}}", type: "string" }] },
    variable: [{ key: "apiKey", value: "", type: "string" }],
    item: [{ name: call.tool, request, response: [response] }],
  };
}

/** JSON in which API clients replace no `{{variable}}`: braces follow each other only in texts, where one can be escaped. */
function withoutVariables(body: JsonObject): string {
  return JSON.stringify(body, null, 2).replace(/\{(?=\{)/g, "\\u007b");
}

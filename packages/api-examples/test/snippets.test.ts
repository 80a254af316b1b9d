import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { canRunSnippet, runSnippet } from "@toolgate/testbed/run-snippet";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ExampleCall, KEY_VARIABLE, toolUrl } from "../src/example-call.ts";
import { curlForDescription } from "../src/snippets/curl.ts";
import { SNIPPETS } from "../src/snippets/snippets.ts";

const VALUES = 300;
const SECRET = "svc_live_$(id)'\"`\\";
const HOSTILE = [
  "it's",
  'a "quoted" $HOME $(id) `id` $' + "{HOME}",
  "two\nlines\r\nand\ttabs",
  "back\\slash \\n \\' \\u0041 \u0007\u007f\u2028\u2029",
  "😀 né 字 %s {{apiKey}} <?php ?> </script>",
  "-d @/etc/passwd",
  { __proto_: 1, "0": "a", "1": "b" },
  { "it's": { $x: [] }, "": {}, nested: [[], {}, [{}]] },
  [1e21, 1e-7, -1.5, 9007199254740991, 0, true, false, null],
  JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}'),
];

const received: { line: string; key: string | undefined; body: string }[] = [];
const server = createServer(async (request: IncomingMessage, response) => {
  const { method, url, headers } = request;
  received.push({ line: `${method} ${url}`, key: headers.authorization, body: await text(request) });
  response.setHeader("content-type", "application/json").end('{"success":true,"word":"Mississippi"}');
});
beforeAll(() => new Promise<void>((done) => server.listen(0, "127.0.0.1", done)));
afterAll(() => void server.close());
const baseUrl = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

for (const { id, label, write } of SNIPPETS) {
  const runs = await canRunSnippet(id);
  test.skipIf(!runs)(
    `[BLD] [BLD-15] the snippet for ${label} sends exactly its values, whatever they contain`,
    async () => {
      const values = fc.sample(fc.jsonValue({ stringUnit: "binary", maxDepth: 4 }), VALUES);
      const call: ExampleCall = {
        tool: "greet",
        url: toolUrl(baseUrl(), "greet"),
        args: { hostile: HOSTILE, values },
      };
      const printed = await runSnippet(id, write(call), { [KEY_VARIABLE]: SECRET });
      expect(printed).toContain("Mississippi");
      const [{ line, key, body } = { line: "", key: "", body: "" }] = received.splice(0);
      expect([line, key]).toEqual(["POST /api/v1/tools/greet", `Bearer ${SECRET}`]);
      expect(JSON.parse(body)).toEqual(JSON.parse(JSON.stringify({ args: call.args })));
    },
  );
}

test.skipIf(!(await canRunSnippet("curl")))(
  "[BLD-22] the curl call for the OpenAPI description fetches it with the key",
  async () => {
    const printed = await runSnippet("curl", curlForDescription(baseUrl()), { [KEY_VARIABLE]: SECRET });
    expect(printed).toContain("Mississippi");
    expect(received.splice(0)).toEqual([{ line: "GET /api/v1/openapi.json", key: `Bearer ${SECRET}`, body: "" }]);
  },
);

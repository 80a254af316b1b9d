// The least that an HTTP server in this language can do: the same JSON text for every request.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { replyToParent } from "../machine/child-process.ts";

const BODY = JSON.stringify({ success: true, args: { text: "hello", count: 3 } });
const HEADERS = { "content-type": "application/json; charset=utf-8", "content-length": Buffer.byteLength(BODY) };
const KEEP_ALIVE_MS = 72_000;

const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (_, response) => {
  response.writeHead(200, HEADERS).end(BODY);
});
server.listen(0, "127.0.0.1", () => {
  replyToParent({ port: (server.address() as AddressInfo).port }, async () => ({}));
});

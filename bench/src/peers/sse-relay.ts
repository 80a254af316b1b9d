// What one would write by hand: calls the model server for each request and passes its tokens on as server-sent events.
// Nothing is stored, so nobody can resume, and there are no users, tools or limits.
import { Agent, createServer, request as sendRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { childArgument, replyToParent } from "../bench-process.ts";

const { modelPort } = childArgument<{ modelPort: number }>();
const agent = new Agent({ keepAlive: true });

const server = createServer((request, response) => {
  const message = new URL(request.url ?? "", "http://relay").searchParams.get("message") ?? "";
  const body = JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: message }] });
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const options = { port: modelPort, host: "127.0.0.1", path: "/v1/chat/completions", method: "POST", headers, agent };
  const upstream = sendRequest(options, (answer) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    let text = "";
    answer.setEncoding("utf8").on("data", (piece: string) => {
      const blocks = (text + piece).split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const data = block.slice("data: ".length);
        const content = data === "[DONE]" ? undefined : JSON.parse(data).choices[0].delta.content;
        if (content !== undefined) response.write(`event: message\ndata: ${JSON.stringify({ content })}\n\n`);
      }
    });
    answer.on("end", () => response.end("event: done\ndata: {}\n\n"));
    answer.on("error", () => response.destroy());
  });
  upstream.on("error", () => response.destroy());
  response.on("close", () => upstream.destroy());
  upstream.end(body);
});
server.listen(0, "127.0.0.1", 4_096, () =>
  replyToParent({ port: (server.address() as AddressInfo).port }, async () => ({})),
);

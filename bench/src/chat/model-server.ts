// A server of OpenAI's chat completions that answers "N tokens at R": N tokens, R a second, or all together for 0. Each
// token is the time at which it is sent, so that every reader on this machine can tell how late it is.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { monotonicMs, replyToParent } from "../bench-process.ts";

const ORDER = /(\d+) tokens at ([\d.]+)/;
const TICKS_PER_MS = 10;

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`;

const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  answer(request, response).catch(() => response.destroy());
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const [, count = "0", perSecond = "0"] = ORDER.exec(Buffer.concat(parts).toString()) ?? [];
  response.writeHead(200, { "content-type": "text/event-stream" });
  const total = Number(count);
  const gapMs = Number(perSecond) > 0 ? 1_000 / Number(perSecond) : 0;
  const began = performance.now();
  let sent = 0;
  let timer: NodeJS.Timeout | undefined;
  response.on("close", () => clearTimeout(timer));
  const send = () => {
    while (sent < total && performance.now() >= began + sent * gapMs) {
      response.write(chunk({ content: `t${Math.round(monotonicMs() * TICKS_PER_MS)} ` }));
      sent += 1;
    }
    if (sent < total) timer = setTimeout(send, Math.max(0, began + sent * gapMs - performance.now()));
    else response.end(`${chunk({}, "stop")}data: [DONE]\n\n`);
  };
  send();
}

server.listen(0, "127.0.0.1", 4_096, () =>
  replyToParent({ port: (server.address() as AddressInfo).port }, async () => ({})),
);

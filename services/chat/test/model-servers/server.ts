import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { anthropicWire } from "./anthropic.ts";
import { openAiWire } from "./openai.ts";
import { type RecordedRequest, remainder, type Script, tokensOf, type Wire } from "./script.ts";

/** What to answer: always the same, or by the request and its number, from 0. */
type Scripts = Script | ((request: RecordedRequest, number: number) => Script);

/** A model server on loopback that speaks one API's wire format. */
export type ModelServer = AsyncDisposable & {
  /** With the version, such as http://127.0.0.1:1234/v1 */
  baseUrl: string;
  requests: readonly RecordedRequest[];
  /** Changes what the next requests get. */
  answer(scripts: Scripts): void;
  /** Answers that the client left before their end. */
  abandoned(): number;
  /** Answers that are being sent. */
  open(): number;
};

export const startOpenAiServer = (scripts: Scripts = {}) => start(openAiWire, scripts);
export const startAnthropicServer = (scripts: Scripts = {}) => start(anthropicWire, scripts);

async function start(wire: Wire, first: Scripts): Promise<ModelServer> {
  const requests: RecordedRequest[] = [];
  let scripts = first;
  let abandoned = 0;
  let open = 0;
  const server = createServer({ keepAliveTimeout: 60_000 }, async (incoming, response) => {
    open++;
    const gone = new AbortController();
    response.on("close", () => {
      open--;
      if (!response.writableFinished) abandoned++;
      gone.abort();
    });
    response.on("error", () => undefined);
    try {
      const request = await read(incoming);
      requests.push(request);
      if (request.path !== wire.path) {
        response.writeHead(404).end();
        return;
      }
      const script = typeof scripts === "function" ? scripts(request, requests.length - 1) : scripts;
      await play(wire, script, request, response, gone.signal);
    } catch (error) {
      if (!gone.signal.aborted) throw error;
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    answer(changed) {
      scripts = changed;
    },
    abandoned: () => abandoned,
    open: () => open,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Longer than any test. */
const STALL_MS = 600_000;

async function play(
  wire: Wire,
  script: Script,
  request: RecordedRequest,
  response: ServerResponse,
  signal: AbortSignal,
) {
  const { fault } = script;
  if (fault?.kind === "no-headers") return await sleep(STALL_MS, undefined, { signal });
  if (fault?.kind === "status") {
    response.writeHead(fault.status, { "content-type": "application/json", ...fault.headers }).end(fault.body ?? "{}");
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  if (fault?.kind === "stall" && fault.afterTokens === 0) return await sleep(STALL_MS, undefined, { signal });
  // An error may be the first event of all.
  if (fault?.kind !== "error" || fault.afterTokens > 0) response.write(wire.begin(request));
  const tokens = tokensOf(remainder(script.text ?? "", request.body.messages));
  const saidBefore = tokensOf(script.text ?? "").length - tokens.length;
  for (const [index, token] of tokens.entries()) {
    if (index === fault?.afterTokens) break;
    await script.before?.(saidBefore + index);
    if (signal.aborted) return;
    if (!response.write(wire.token(token))) await once(response, "drain", { signal });
  }
  if (fault === undefined) {
    for (const part of wire.toolCalls(script.toolCalls ?? [], script.fragmentChars ?? 4)) response.write(part);
    response.end(wire.end(script, tokens.length));
    return;
  }
  // What comes before a fault must not be lost with the connection.
  await new Promise<void>((resolve) => response.write(": \n\n", () => resolve()));
  switch (fault.kind) {
    case "error":
      response.write(wire.error(fault.type));
      if (fault.staysOpen === true) await sleep(STALL_MS, undefined, { signal });
      response.end();
      return;
    case "malformed":
      response.end('data: {"choices": [oops\n\n');
      return;
    case "raw":
      response.end(fault.bytes);
      return;
    case "end":
      response.end();
      return;
    case "cut":
      for (const part of wire.toolCalls(script.toolCalls ?? [], script.fragmentChars ?? 4)) response.write(part);
      setImmediate(() => response.destroy());
      return;
    case "stall":
      await sleep(STALL_MS, undefined, { signal });
  }
}

async function read(incoming: IncomingMessage): Promise<RecordedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString() || '{"messages":[]}');
  return { path: incoming.url ?? "", headers: incoming.headers, body };
}

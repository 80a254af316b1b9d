import { Agent, type IncomingMessage, request } from "node:http";
import type { Draft } from "./changes.ts";

export interface FuzzResponse {
  status: number;
  text: string;
}

export interface Sender extends Disposable {
  /** Sends over a kept connection, as if the proxy in front had received it from `clientIp`. */
  send(
    draft: Pick<Draft, "method" | "target" | "headers" | "body" | "chunked">,
    clientIp: string,
  ): Promise<FuzzResponse>;
}

const DEADLINE_MS = 60_000;
const CHUNK_BYTES = 1_000;

export function createSender(baseUrl: string, connections: number): Sender {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const { hostname, port } = new URL(baseUrl);
  return {
    async send({ method, target, headers, body, chunked }, clientIp) {
      const length = chunked ? ["transfer-encoding", "chunked"] : ["content-length", String(body.length)];
      const sent = request({
        agent,
        hostname,
        port,
        method,
        path: target,
        headers: ["host", "gateway.test", "x-forwarded-for", clientIp, ...length, ...headers.flat()],
        signal: AbortSignal.timeout(DEADLINE_MS),
      });
      const response = new Promise<IncomingMessage>((resolve, reject) => {
        sent.once("response", resolve).once("error", reject);
      });
      if (chunked)
        for (let at = 0; at < body.length; at += CHUNK_BYTES) sent.write(body.subarray(at, at + CHUNK_BYTES));
      sent.end(chunked ? undefined : body);
      const received = await response;
      const chunks: Buffer[] = [];
      for await (const chunk of received as AsyncIterable<Buffer>) chunks.push(chunk);
      return { status: received.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") };
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}

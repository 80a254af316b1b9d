import { readFile } from "node:fs/promises";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { join } from "node:path";
import { keptCertificate } from "@toolgate/local-servers/certificate";
import type { Ports } from "@toolgate/local-servers/ports";
import { listen } from "@toolgate/service-host/process/listen";
import { verify } from "@toolgate/webhook-signing/verify";

const MAX_BODY_BYTES = 1_000_000;
const REQUEST_TIMEOUT_MS = 10_000;
const MAX_PRINTED_LENGTH = 80;
const DEMO_RATES: Readonly<Record<string, number>> = { EUR: 1.07, USD: 1.24, GBP: 0.94 };

type ReceiverSettings = {
  /** The data folder; the receiver keeps its certificate and secret in `receiver/` below it. */
  readonly dataDir: string;
  readonly ports: Ports;
  readonly log: (line: string) => void;
  readonly now: () => Date;
};

/** A small customer's server: it prints what arrives and whether the signature is right. */
export type Receiver = AsyncDisposable & {
  readonly url: string;
  /** PEM file of what to trust for `url`. */
  readonly caFile: string;
};

/** The file in which the receiver of a data folder looks up the secret of its endpoint, at every webhook. */
export function receiverSecretFile(dataDir: string): string {
  return join(dataDir, "receiver", "secret");
}

/** The PEM file of the receiver's certificate; it exists once the receiver has been started. */
export function receiverCaFile(dataDir: string): string {
  return join(dataDir, "receiver", "ca.pem");
}

export async function startReceiver(settings: ReceiverSettings): Promise<Receiver> {
  const { dataDir, ports, log, now } = settings;
  const { key, cert } = await keptCertificate(join(dataDir, "receiver"), now());
  const secretFile = receiverSecretFile(dataDir);
  const server = createServer({ key, cert, requestTimeout: REQUEST_TIMEOUT_MS }, async (request, response) => {
    if (request.method === "GET") return respondWithRate(request, response);
    const body = await readBody(request).catch(() => undefined);
    if (body === undefined) {
      response.writeHead(413, { connection: "close" }).end();
      return;
    }
    const secret = await readFile(secretFile, "utf8").catch(() => undefined);
    log(describe(request.headers, body, secret, now()));
    response.writeHead(204).end();
  });
  const port = await ports.take("receiver");
  await listen(server, "127.0.0.1", port);
  return {
    url: `https://127.0.0.1:${port}/webhooks`,
    caFile: receiverCaFile(dataDir),
    async [Symbol.asyncDispose]() {
      const closed = server[Symbol.asyncDispose]();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The rate service that the demo's declarative tool calls: fixed figures, so that the demo needs no network. */
function respondWithRate(request: IncomingMessage, response: ServerResponse): void {
  const currency = /^\/rates\/([A-Z]{3})$/.exec(request.url ?? "")?.[1];
  const rate = currency === undefined ? undefined : DEMO_RATES[currency];
  response.writeHead(rate === undefined ? 404 : 200, { "content-type": "application/json" });
  response.end(JSON.stringify(rate === undefined ? { error: "unknown currency" } : { base: "CHF", currency, rate }));
}

function describe(headers: IncomingHttpHeaders, body: Buffer, secret: string | undefined, now: Date): string {
  const read = (name: string) => printable(headers[name]);
  return [
    `webhook ${read("x-service-event")}`,
    `delivery ${read("x-service-delivery")}`,
    `attempt ${read("x-service-attempt")}`,
    `signature ${judge(headers["x-service-signature"], body, secret, now)}`,
  ].join("  ");
}

function judge(header: string | string[] | undefined, body: Buffer, secret: string | undefined, now: Date): string {
  if (secret === undefined) return "not checked: no secret known here";
  if (typeof header !== "string") return "MISSING";
  const result = verify({ secret, header, body, now: Math.floor(now.getTime() / 1000) });
  return result.ok ? "verified" : `WRONG (${result.reason})`;
}

// Anyone who reaches the port can set these headers, and a terminal obeys control characters.
function printable(value: string | string[] | undefined): string {
  return String(value ?? "-")
    .replace(/[^\x20-\x7e]/g, "?")
    .slice(0, MAX_PRINTED_LENGTH);
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Error("body too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { type LoopbackCertificate, makeLoopbackCertificate } from "@toolgate/local-servers/certificate";
import { type Behaviour, play, type ReceivedRequest } from "../behaviour.ts";
import { eventually } from "../eventually.ts";

const MAX_BODY_BYTES = 16_000_000;
const WAIT_DEADLINE_MS = 60_000;
const POLL_EVERY_MS = 5;

/** Decides what happens with a request; `index` counts the requests from 0. */
export type Behave = (request: ReceivedRequest, index: number) => Behaviour;

/** How to start a receiver; without `behave` it responds with 200 to everything. */
type ReceiverOptions = {
  readonly behave?: Behave;
  /** `true`: with a new certificate for localhost, 127.0.0.1 and ::1. */
  readonly tls?: boolean | LoopbackCertificate;
  /** Address to listen on; 127.0.0.1 when absent. */
  readonly host?: string;
  /** Port to listen on; a free one when absent. */
  readonly port?: number;
};

/** A real HTTP or HTTPS server that records what arrives. */
export type TestReceiver = AsyncDisposable & {
  /** Origin without a path, such as `https://127.0.0.1:40001`. */
  readonly url: string;
  readonly port: number;
  /** What clients have to trust, as PEM; `undefined` without TLS. */
  readonly ca: string | undefined;
  /** All requests so far, in the order in which their bodies were complete. */
  readonly requests: readonly ReceivedRequest[];
  /** Connections accepted so far, including those without a request. */
  readonly connections: number;
  /** Changes what happens with the next requests. */
  behave(behave: Behave): void;
  /** Waits for the first `count` requests; fails after `deadlineMs` (20 s). */
  waitFor(count: number, deadlineMs?: number): Promise<readonly ReceivedRequest[]>;
};

/** Starts a receiver on loopback. Requests with bodies over 16 MB are cut off and not recorded. */
export async function startReceiver(options: ReceiverOptions = {}): Promise<TestReceiver> {
  let { behave = (): Behaviour => ({}) } = options;
  let connections = 0;
  const requests: ReceivedRequest[] = [];
  const closing = new AbortController();
  const certificate = await certificateOf(options.tls);
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    try {
      const received = await record(request);
      const index = requests.push(received) - 1;
      await play(behave(received, index), response, AbortSignal.any([gone.signal, closing.signal]));
    } catch {
      response.destroy();
    }
  };
  const server = certificate ? createSecureServer(certificate, handle) : createServer(handle);
  server.on("connection", () => {
    connections += 1;
  });
  const host = options.host ?? "127.0.0.1";
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(options.port ?? 0, host, () => resolve());
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `${certificate ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`,
    port,
    ca: certificate?.ca,
    requests,
    get connections() {
      return connections;
    },
    behave(next) {
      behave = next;
    },
    async waitFor(count, deadlineMs = WAIT_DEADLINE_MS) {
      await eventually(
        () => {
          if (requests.length < count)
            throw new Error(`${requests.length} of ${count} requests arrived within ${deadlineMs} ms`);
        },
        { deadlineMs, everyMs: POLL_EVERY_MS },
      );
      return requests.slice(0, count);
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function certificateOf(tls: ReceiverOptions["tls"]): Promise<LoopbackCertificate | undefined> {
  if (tls === true) return makeLoopbackCertificate(new Date());
  return tls || undefined;
}

async function record(request: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Error("body too large");
    chunks.push(chunk);
  }
  const { method = "", url: path = "", headers, rawHeaders } = request;
  return { method, path, headers, rawHeaders, body: Buffer.concat(chunks), receivedAtMs: Date.now() };
}

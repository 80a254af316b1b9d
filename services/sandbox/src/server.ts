import { createHash, timingSafeEqual } from "node:crypto";
import {
  createSecureServer,
  createServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import { keepAlive } from "@toolgate/call-stream/keep-alive";
import { listen } from "@toolgate/service-host/process/listen";
import type { ProcessTls } from "@toolgate/service-host/tls/process-tls";
import type { Isolation } from "./isolation/detect.ts";
import type { ProcessEnd } from "./processes/engine-process.ts";
import { LocalProcess } from "./processes/local-process.ts";
import { END_TRAILER, WINDOW_BYTES } from "./processes/remote-process.ts";

type SandboxServerOptions = {
  host: string;
  /** 0 picks a free one. */
  port: number;
  /** SHA-256 of each token that is admitted, in hexadecimal digits: this process does not know the tokens themselves. */
  tokenHashes: readonly string[];
  isolation: Isolation;
  /** Absent: without encryption. */
  tls?: ProcessTls | undefined;
};

export type SandboxServer = AsyncDisposable & {
  readonly port: number;
  /** Starts no more processes, asks their users to give up those that run, and resolves when they have. */
  drain: () => Promise<void>;
};

/** A tool-runner has about 35; this many would be a mistake. */
const MAX_PROCESSES = 512;
const BEARER = "Bearer ";

/**
 * Runs processes for tool-runners that have the token, each for a connection of its own: its input is the body of a
 * request, its output that of the response. When either side ends the connection, the process ends.
 */
export async function startSandboxServer(options: SandboxServerOptions): Promise<SandboxServer> {
  const { host, port, isolation, tls } = options;
  const expected = options.tokenHashes.map((hash) => Buffer.from(hash, "hex"));
  const sessions = new Set<Http2Session>();
  const http2 = { settings: { initialWindowSize: WINDOW_BYTES, maxConcurrentStreams: 1 } };
  const secure = tls && createSecureServer({ ...http2, ...tls.serverOptions() });
  if (secure) tls?.follow(secure);
  const server = secure ?? createServer(http2);
  server.maxConnections = MAX_PROCESSES;
  server.on("session", (session) => {
    sessions.add(session);
    keepAlive(session, () => true);
    session.on("error", () => {});
    session.on("close", () => sessions.delete(session));
  });
  server.on("stream", (stream: ServerHttp2Stream, headers) => {
    stream.on("error", () => {});
    if (!isAdmitted(headers, expected)) return stream.respond({ ":status": 401 }, { endStream: true });
    try {
      serve(stream, isolation);
    } catch {
      // For lack of file descriptors, for example.
      stream.respond({ ":status": 503 }, { endStream: true });
    }
  });
  const bound = await listen(server, host, port);
  const close = () => new Promise<void>((resolve) => void server.close(() => resolve()));
  return {
    port: bound,
    async drain() {
      const closed = close();
      for (const session of sessions) session.close();
      await closed;
    },
    async [Symbol.asyncDispose]() {
      const closed = close();
      for (const session of sessions) session.destroy();
      await closed;
    },
  };
}

function serve(stream: ServerHttp2Stream, isolation: Isolation): void {
  let end: ProcessEnd | undefined;
  const process = new LocalProcess(isolation, {
    onEnd: (ended) => {
      end = ended;
      stream.end();
    },
  });
  stream.respond({ ":status": 200 }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ [END_TRAILER]: encodeURIComponent(JSON.stringify(end)) }));
  stream.pipe(process.input);
  process.output.pipe(stream, { end: false });
  stream.on("close", () => process.kill());
}

function isAdmitted({ authorization }: IncomingHttpHeaders, expected: readonly Buffer[]): boolean {
  if (!authorization?.startsWith(BEARER)) return false;
  const hash = createHash("sha256").update(authorization.slice(BEARER.length)).digest();
  return expected.some((one) => timingSafeEqual(hash, one));
}

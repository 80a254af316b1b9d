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
import { MAX_PROCESSES, processesThatFit } from "./limits.ts";
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
  /** It refuses further ones. Default: as many as the memory has room for. */
  maxProcesses?: number;
  /** Absent: without encryption. */
  tls?: ProcessTls | undefined;
};

export type SandboxServer = AsyncDisposable & {
  readonly port: number;
  readonly maxProcesses: number;
  /** Starts no more processes, asks their users to give up those that run, and resolves when they have. */
  drain: () => Promise<void>;
};

/** So many connections may get a 401 or 503 at the same time; those above are closed without an answer. */
const REFUSED_CONNECTIONS = 256;
/** A connection that has no process after this long is ended. */
const ADMIT_MS = 5_000;
const BEARER = "Bearer ";

/**
 * Runs processes for tool-runners that have the token, each for a connection of its own: its input is the body of a
 * request, its output that of the response. When either side ends the connection, the process ends.
 */
export async function startSandboxServer(options: SandboxServerOptions): Promise<SandboxServer> {
  const { host, port, isolation, maxProcesses = processesThatFit(MAX_PROCESSES), tls } = options;
  const expected = options.tokenHashes.map((hash) => Buffer.from(hash, "hex"));
  /** Each with what ends it while it has no process. */
  const sessions = new Map<Http2Session | undefined, NodeJS.Timeout>();
  let processes = 0;
  const http2 = { settings: { initialWindowSize: WINDOW_BYTES, maxConcurrentStreams: 1 } };
  const secure = tls && createSecureServer({ ...http2, ...tls.serverOptions() });
  if (secure) tls?.follow(secure);
  const server = secure ?? createServer(http2);
  server.maxConnections = maxProcesses + REFUSED_CONNECTIONS;
  server.on("session", (session) => {
    const late = setTimeout(() => session.destroy(), ADMIT_MS);
    sessions.set(session, late);
    keepAlive(session, () => true);
    session.on("error", () => {});
    session.on("close", () => {
      clearTimeout(late);
      sessions.delete(session);
    });
  });
  server.on("stream", (stream: ServerHttp2Stream, headers) => {
    stream.on("error", () => {});
    if (!isAdmitted(headers, expected)) return refuse(stream, 401);
    if (processes >= maxProcesses) return refuse(stream, 503);
    try {
      serve(stream, isolation, () => {
        processes -= 1;
      });
      processes += 1;
      clearTimeout(sessions.get(stream.session));
    } catch {
      // For lack of file descriptors, for example.
      refuse(stream, 503);
    }
  });
  const bound = await listen(server, host, port);
  const close = () => new Promise<void>((resolve) => void server.close(() => resolve()));
  return {
    port: bound,
    maxProcesses,
    async drain() {
      const closed = close();
      for (const session of sessions.keys()) session?.close();
      await closed;
    },
    async [Symbol.asyncDispose]() {
      const closed = close();
      for (const session of sessions.keys()) session?.destroy();
      await closed;
    },
  };
}

function refuse(stream: ServerHttp2Stream, status: number): void {
  const { session } = stream;
  stream.respond({ ":status": status }, { endStream: true });
  stream.close();
  session?.close();
}

function serve(stream: ServerHttp2Stream, isolation: Isolation, onEnd: () => void): void {
  let end: ProcessEnd | undefined;
  const process = new LocalProcess(isolation, {
    onEnd: (ended) => {
      end = ended;
      onEnd();
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

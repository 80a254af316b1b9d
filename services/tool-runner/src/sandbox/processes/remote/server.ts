import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { ProcessTls } from "@toolgate/service-host/tls/process-tls";
import type { Isolation } from "../../isolation/detect.ts";
import { PROTOCOL } from "./messages.ts";
import { ServedChild } from "./served-child.ts";

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
  /** Starts no more children, asks their users to give up those that run, and resolves when they have. */
  drain: () => Promise<void>;
};

/** Children of one tool-runner are about 20; this many would be a mistake. */
const MAX_CHILDREN = 512;
const TIMEOUTS = { headersTimeout: 5_000, requestTimeout: 5_000, connectionsCheckingInterval: 5_000 };
const BEARER = "Bearer ";

/** Serves children to tool-runners that have the token: one connection for each child. */
export async function startSandboxServer(options: SandboxServerOptions): Promise<SandboxServer> {
  const { host, port, isolation, tls } = options;
  const expected = options.tokenHashes.map((hash) => Buffer.from(hash, "hex"));
  const children = new Set<ServedChild>();
  const idle = Promise.withResolvers<void>();
  let draining = false;
  const refuse: RequestListener = (_request, response) => {
    response.writeHead(404, { connection: "close" }).end();
  };
  const secure = tls && createSecureServer({ ...TIMEOUTS, ...tls.serverOptions() }, refuse);
  if (secure) tls?.follow(secure);
  const server = secure ?? createServer(TIMEOUTS, refuse);
  server.maxConnections = 2 * MAX_CHILDREN;

  const refusal = ({ headers }: IncomingMessage): string | undefined => {
    if (!isToken(headers.authorization, expected)) return "401 Unauthorized";
    if (headers.upgrade !== PROTOCOL) return "400 Bad Request";
    if (draining || children.size >= MAX_CHILDREN) return "503 Service Unavailable";
    return undefined;
  };

  server.on("upgrade", (request, socket, head) => {
    const refused = refusal(request);
    if (refused !== undefined) {
      socket.on("error", () => {});
      socket.end(`HTTP/1.1 ${refused}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy());
      return;
    }
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${PROTOCOL}\r\n\r\n`);
    const child = new ServedChild(socket as Socket, head, isolation, () => {
      children.delete(child);
      if (draining && children.size === 0) idle.resolve();
    });
    children.add(child);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      // Not removed, so that a connection that cannot be accepted does not end the process.
      server.on("error", () => {});
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    async drain() {
      draining = true;
      for (const child of children) child.leave();
      if (children.size > 0) await idle.promise;
    },
    async [Symbol.asyncDispose]() {
      draining = true;
      for (const child of children) child.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function isToken(header: string | undefined, expected: readonly Buffer[]): boolean {
  if (!header?.startsWith(BEARER)) return false;
  const hash = createHash("sha256").update(header.slice(BEARER.length)).digest();
  return expected.some((one) => timingSafeEqual(hash, one));
}

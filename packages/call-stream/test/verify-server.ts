import { once } from "node:events";
import type { Http2Server, ServerHttp2Session } from "node:http2";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import type { VerifyRequest, VerifyResponse } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { VerifyService } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import type { CallHandler } from "../src/call.ts";
import { serveCalls } from "../src/serve.ts";
import type { ServeLimits } from "../src/served-stream.ts";

export type VerifyHandler = CallHandler<VerifyRequest, VerifyResponse>;

type VerifyServerOptions = {
  readonly onError?: (error: unknown) => void;
  readonly limits?: Partial<ServeLimits>;
  readonly port?: number;
};

/** A real HTTP/2 server on loopback whose disposal cuts every connection. */
type VerifyServer = AsyncDisposable & {
  readonly address: string;
  readonly port: number;
  /** Announces `going_away` on every stream and resolves when all connections have closed. */
  drain(): Promise<void>;
  /** The streams that were opened. */
  opened(): number;
  /** See `ServedCalls`. */
  untilIdle(waitMs: number): Promise<void>;
};

export async function startVerifyServer(
  handler: VerifyHandler,
  options: VerifyServerOptions = {},
): Promise<VerifyServer> {
  const draining = new AbortController();
  let opened = 0;
  const verifyCalls = serveCalls({
    method: VerifyService.method.verify,
    handler,
    limits: options.limits ?? {},
    onError: options.onError ?? (() => undefined),
    drainSignal: draining.signal,
  });
  const server = createServer(
    connectNodeAdapter({
      routes: (router) =>
        router.service(VerifyService, {
          verifyCalls(batches, { signal }) {
            opened += 1;
            return verifyCalls.serve(batches, { signal, caller: "gateway" });
          },
        }),
    }),
  );
  const { port, sessions } = await listening(server, options.port ?? 0);
  return {
    address: `http://127.0.0.1:${port}`,
    port,
    drain: async () => {
      draining.abort();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions) session.close();
      await closed;
    },
    opened: () => opened,
    untilIdle: (waitMs) => verifyCalls.untilIdle(waitMs),
    [Symbol.asyncDispose]: async () => {
      for (const session of sessions) session.destroy();
      if (server.listening) await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Listens on loopback and keeps the set of open connections. */
async function listening(
  server: Http2Server,
  port: number,
): Promise<{ port: number; sessions: Set<ServerHttp2Session> }> {
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
    session.on("error", () => undefined);
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, sessions };
}

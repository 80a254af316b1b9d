import type { Server, TLSSocket } from "node:tls";
import type { Logger } from "../process/logger.ts";

/** So that a scanner does not fill the log. */
const LOG_EVERY_MS = 10_000;

/** Logs why clients were refused: they themselves see only that their connection ends. At most one in 10 s. */
export function logRefusals(server: Server, log: Logger): void {
  let lastMs = Number.NEGATIVE_INFINITY;
  let others = 0;
  server.on("tlsClientError", (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    // A probe that only connects, or a client that has refused this server and logs it.
    if (error.code === "ECONNRESET" && !socket.authorizationError) return;
    const nowMs = performance.now();
    if (nowMs - lastMs < LOG_EVERY_MS) {
      others += 1;
      return;
    }
    const reason = String(socket.authorizationError ?? error.code ?? error.message);
    log.warn({ reason, from: socket.remoteAddress, others }, "a connection without a valid certificate was refused");
    [lastMs, others] = [nowMs, 0];
  });
}

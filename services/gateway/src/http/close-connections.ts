import type { Server } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

const CHECK_EVERY_MS = 50;

/**
 * Closes connections that clients keep open: from now on, each ends with its next response, whose `connection: close` says
 * so. Resolves when there is no connection any more, or after `withinMs`. A server that closes idle connections immediately
 * cuts those on which a request is on its way, and its client cannot know whether it was handled.
 */
export async function closeConnections(server: Server, withinMs: number): Promise<void> {
  server.prependListener("request", (_request, response) => {
    response.shouldKeepAlive = false;
  });
  const end = performance.now() + withinMs;
  while (performance.now() < end && (await connectionsOf(server)) > 0) await sleep(CHECK_EVERY_MS);
}

function connectionsOf(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });
}

import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** What node:http attaches to a connection to read requests from it. */
interface RequestParser {
  unconsume(): void;
  remove(): void;
  close(): void;
}

const OF_REQUESTS = ["data", "end", "close", "drain", "error", "timeout", "pause", "resume"] as const;

/**
 * Takes the connection away from a response whose head has been sent, as node:http itself does for an upgrade. The parser,
 * the request and the response, 15 kB per connection, can then be collected while the connection stays open. No other
 * request is read from it, so the head must have said `connection: close`.
 */
export function takeSocket(response: ServerResponse): Socket {
  const socket = response.socket as Socket & { parser: RequestParser | null };
  response.detachSocket(socket);
  for (const event of OF_REQUESTS) socket.removeAllListeners(event);
  const { parser } = socket;
  socket.parser = null;
  if (parser) {
    parser.unconsume();
    parser.remove();
    // Not while it may be reading.
    setImmediate(() => parser.close());
  }
  return socket.setTimeout(0);
}

import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createServer, type TLSSocket } from "node:tls";
import type { ReceiverArgument } from "../messages.ts";

export type Hostility = "hang" | "drip-headers" | "drip-body" | "flood-headers" | "flood-interim" | "large-body";

const OK = "HTTP/1.1 200 OK\r\n";
const LARGE_BODY_BYTES = 100 * 1024 * 1024;
const PIECE = "x".repeat(65_536);
const HEADER_LINES = "x-flood: abcdefgh\r\n".repeat(100);
const INTERIM = "HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n".repeat(100);
const DRIP_EVERY_MS = 1_000;

/** Servers of customers who mean harm: the path says what one does with each connection. */
export async function startHostileServer(
  resources: AsyncDisposableStack,
  certificate: ReceiverArgument,
): Promise<{ url: string }> {
  const sockets = new Set<TLSSocket>();
  const server = createServer({ ...certificate }, (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    socket.once("data", (data) => {
      socket.resume();
      void respond(socket, data.toString("latin1").split("/")[1]?.split(" ")[0] as Hostility);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  resources.defer(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function respond(socket: TLSSocket, hostility: Hostility): Promise<void> {
  switch (hostility) {
    case "hang":
      return;
    case "drip-headers":
      return drip(socket, `${OK}x-drip: `);
    case "drip-body":
      return drip(socket, `${OK}content-length: 9999\r\n\r\n`);
    case "flood-headers":
      return flood(socket, OK, HEADER_LINES, Number.POSITIVE_INFINITY);
    case "flood-interim":
      return flood(socket, "", INTERIM, Number.POSITIVE_INFINITY);
    case "large-body":
      return flood(socket, `${OK}content-length: ${LARGE_BODY_BYTES}\r\n\r\n`, PIECE, LARGE_BODY_BYTES);
  }
}

async function drip(socket: TLSSocket, head: string): Promise<void> {
  socket.write(head);
  for (; !socket.destroyed; await sleep(DRIP_EVERY_MS)) socket.write("x");
}

async function flood(socket: TLSSocket, head: string, piece: string, bytes: number): Promise<void> {
  const closed = once(socket, "close").catch(() => {});
  socket.write(head);
  for (let sent = 0; sent < bytes && !socket.destroyed; sent += piece.length) {
    if (socket.write(piece)) continue;
    await Promise.race([once(socket, "drain"), closed]).catch(() => {});
  }
}

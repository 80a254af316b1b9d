import { once } from "node:events";
import type { RequestListener } from "node:http";
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Server, Socket } from "node:net";
import { createServer } from "node:net";
import { generate } from "selfsigned";

/** A server of a test: where it listens, how many connections came, which are open. */
export type Receiver = AsyncDisposable & { port: number; opened: () => number; open: ReadonlySet<Socket> };

/** A TCP server that does to each connection whatever the test says. */
export function rawReceiver(onSocket: (socket: Socket) => void, host = "127.0.0.1"): Promise<Receiver> {
  return listen(createServer(onSocket), host);
}

/** An HTTP server. */
export function httpReceiver(listener: RequestListener, host = "127.0.0.1"): Promise<Receiver> {
  return listen(createHttpServer({ keepAliveTimeout: 60_000 }, listener), host);
}

/** An HTTPS server with a given certificate. */
export function httpsReceiver(listener: RequestListener, pem: { key: string; cert: string }): Promise<Receiver> {
  return listen(createHttpsServer({ ...pem, keepAliveTimeout: 60_000 }, listener), "127.0.0.1");
}

/** A certificate for these names (self-signed, so it is its own authority), and its key. */
export function certificateFor(...names: string[]): Promise<{ key: string; cert: string }> {
  return certificateOf(names, {});
}

/** The same, valid for a given time. */
export async function certificateOf(
  names: readonly string[],
  validity: { notBeforeDate?: Date; notAfterDate?: Date },
): Promise<{ key: string; cert: string }> {
  const altNames = names.map((value) =>
    /^[0-9.]+$/.test(value) ? { type: 7 as const, ip: value } : { type: 2 as const, value },
  );
  const pem = await generate([{ name: "commonName", value: names[0] ?? "" }], {
    algorithm: "sha256",
    keyType: "ec",
    ...validity,
    extensions: [
      { name: "basicConstraints", cA: true },
      { name: "subjectAltName", altNames },
    ],
  });
  return { key: pem.private, cert: pem.cert };
}

/** Responds to every request head on a raw connection with these bytes. */
export function respondWith(...chunks: string[]): (socket: Socket) => void {
  return (socket) => {
    socket.once("data", () => {
      for (const chunk of chunks) socket.write(chunk, "latin1");
    });
  };
}

/** Bytes that the floods of a test have sent. */
type Flood = { acceptedBytes(): number };

/** No flood sends more than this, in bytes. */
const MAX_FLOOD_BYTES = 104_857_600;

/**
 * Responds to the first bytes of a request with `head` and then endless `filler`, as fast as the other side takes it.
 * Counts the bytes that the network has taken.
 */
export function floodWith(head: string, filler: string | Buffer): Flood & { onSocket: (socket: Socket) => void } {
  const block = typeof filler === "string" ? Buffer.from(filler, "latin1") : filler;
  const sockets: Socket[] = [];
  return {
    acceptedBytes: () => sockets.reduce((sum, socket) => sum + socket.bytesWritten - socket.writableLength, 0),
    onSocket(socket) {
      sockets.push(socket);
      const more = () => {
        while (socket.writable && socket.bytesWritten < MAX_FLOOD_BYTES && socket.write(block)) {}
      };
      socket.on("drain", more);
      socket.once("data", () => {
        socket.write(head, "latin1");
        more();
      });
      socket.resume();
    },
  };
}

async function listen(server: Server, host: string): Promise<Receiver> {
  const open = new Set<Socket>();
  let opened = 0;
  server.on("connection", (socket: Socket) => {
    opened++;
    open.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => open.delete(socket));
  });
  server.listen(0, host);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    opened: () => opened,
    open,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

import type { AddressInfo, Server } from "node:net";

/** Binds a server; resolves with its port. Rejects with a readable message when the port is taken. */
export function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    // Not removed, so that a connection that cannot be accepted later (no file descriptor left) does not end the
    // process.
    server.on("error", (error: NodeJS.ErrnoException) => {
      reject(error.code === "EADDRINUSE" ? new Error(`port ${port} on ${host} is taken`) : error);
    });
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A TCP proxy to a server on loopback, whose connections can be broken. */
interface TcpProxy extends AsyncDisposable {
  /** The server's URL, with the port of the proxy. */
  readonly url: string;
  /** Connections made so far. */
  readonly connections: number;
  /** From now on everything that the server sends is lost; bytes from clients still arrive. */
  loseResponses(): void;
  /** The connections made so far stay open but pass nothing on; new ones work. */
  freeze(): void;
  /** Closes the connections made so far; new ones work. */
  cut(): void;
}

/** Listens on loopback in front of the server at `targetUrl`. */
export async function startTcpProxy(targetUrl: string): Promise<TcpProxy> {
  const url = new URL(targetUrl);
  const { port: targetPort, hostname } = url;
  const sockets = new Set<Socket>();
  let connections = 0;
  let losing = false;
  const server = createServer((client) => {
    connections += 1;
    const upstream = connect(Number(targetPort), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    upstream.on("data", (data) => {
      if (!losing) client.write(data);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url.port = String((server.address() as AddressInfo).port);
  const cut = () => {
    losing = false;
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href.replace(/\/$/, ""),
    get connections() {
      return connections;
    },
    loseResponses() {
      losing = true;
    },
    freeze() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    cut,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
  };
}

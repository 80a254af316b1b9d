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
  /**
   * From the next piece with this text on, everything that clients send is lost. Resolves when that begins.
   */
  loseRequestsFrom(text: string): Promise<void>;
  /** Closes the connections made so far; new ones work. */
  cut(): void;
  /** Breaks the connections made so far, so that clients get ECONNRESET; new ones work. */
  reset(): void;
}

/** Listens on loopback in front of the server at `targetUrl`. */
export async function startTcpProxy(targetUrl: string): Promise<TcpProxy> {
  const url = new URL(targetUrl);
  const { port: targetPort, hostname } = url;
  const sockets = new Set<Socket>();
  let connections = 0;
  let losing = false;
  let losesRequest = (_data: Buffer) => false;
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
    client.on("data", (data) => {
      if (!losesRequest(data)) upstream.write(data);
    });
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
      for (const socket of sockets) socket.pause();
    },
    loseRequestsFrom(text) {
      const { promise: begun, resolve } = Promise.withResolvers<void>();
      let found = false;
      losesRequest = (data) => {
        found ||= data.includes(text);
        if (found) resolve();
        return found;
      };
      return begun;
    },
    cut,
    reset() {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
  };
}

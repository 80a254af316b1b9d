import { connect, createServer, type Socket } from "node:net";

/** A way to a server that can lose the server's answers and cut connections. */
export interface CuttingProxy extends AsyncDisposable {
  url: string;
  /** From now on answers are lost; what is sent still arrives. */
  loseAnswers(): void;
  /** Cuts all connections; new ones are whole again. */
  cut(): void;
}

/** Listens on loopback in front of `nats://127.0.0.1:port`. */
export async function cuttingProxy(targetUrl: string): Promise<CuttingProxy> {
  const target = new URL(targetUrl);
  const sockets = new Set<Socket>();
  let losing = false;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
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
  const cut = () => {
    losing = false;
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `nats://127.0.0.1:${(server.address() as { port: number }).port}`,
    loseAnswers() {
      losing = true;
    },
    cut,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
  };
}

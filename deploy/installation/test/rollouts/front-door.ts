import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

interface FrontDoor extends AsyncDisposable {
  url: string;
}

/**
 * What a Service does in front of the gateways: a new connection goes to the next of the addresses, and stays there until
 * one side closes it. Nothing is sent again.
 */
export async function startFrontDoor(addresses: () => readonly string[], port: number): Promise<FrontDoor> {
  const sockets = new Set<Socket>();
  let turn = 0;
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const all = addresses();
    const host = all[turn++ % all.length];
    if (host === undefined) {
      client.destroy();
      return;
    }
    const upstream = connect({ host, port, allowHalfOpen: true, noDelay: true });
    client.setNoDelay(true);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => sockets.delete(one));
      one.pipe(other);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

import { createServer } from "node:net";
import { testNats } from "@toolgate/testbed/servers/servers";
import { expect, test } from "vitest";
import { connectBus } from "../src/connect.ts";

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test("a failed first connection names the servers but not the password", async () => {
  const [one, other] = [await closedPort(), await closedPort()];
  const servers = `nats://toolgate:hunter2@127.0.0.1:${one}, 127.0.0.1:${other}`;
  await expect(connectBus({ servers, name: "test" })).rejects.toThrow(
    new Error(`NATS at 127.0.0.1:${one}, 127.0.0.1:${other} cannot be reached: connection refused`),
  );
});

test("a server that can be reached is used although the first one cannot", async () => {
  await using server = await testNats();
  await using bus = await connectBus({ servers: `nats://127.0.0.1:${await closedPort()},${server.url}`, name: "test" });
  expect(bus.isConnected()).toBe(true);
});

import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { createLogger } from "@toolgate/service-host/process/logger";
import type { Peers } from "@toolgate/service-host/rpc/peers";
import { remoteTransport } from "@toolgate/service-host/rpc/transport";
import { testNats } from "@toolgate/testbed/servers/servers";
import { expect, test } from "vitest";
import { readConfig } from "../src/config.ts";
import { start } from "../src/service.ts";

const log = createLogger({ service: "gateway", level: "silent" });
const unused = () => {
  throw new Error("no call gets this far");
};
const peers: Peers = {
  transport: () =>
    remoteTransport(
      () => ["http://127.0.0.1:1"],
      () => "token",
    ),
  call: () => async () => unused(),
};

interface Answer {
  status: number;
  connection: string | undefined;
  /** The client's port: the same on the same connection. */
  from: number | undefined;
}

/** A request to a path that the gateway does not have. */
async function ask(port: number, agent: Agent): Promise<Answer> {
  const sent = request({ port, host: "127.0.0.1", path: "/nothing", agent }).end();
  const [response] = await once(sent, "response");
  const from = sent.socket?.localPort;
  response.resume();
  await once(response, "end");
  return { status: response.statusCode, connection: response.headers.connection, from };
}

test("a stopping gateway responds on connections that were idle, tells their clients to disconnect, and ends when they have", async () => {
  await using nats = await testNats();
  const config = readConfig({ NATS_URL: nats.url, PORT: "0", DRAIN_IDLE_MS: "60000", DRAIN_MS: "120000" });
  await using gateway = await start(config, { log, now: Date.now, peers });
  const agents = [1, 2, 3].map(() => new Agent({ keepAlive: true, maxSockets: 1 }));
  const before = await Promise.all(agents.map((agent) => ask(gateway.port, agent)));
  expect(before.map(({ connection }) => connection)).toEqual(Array(3).fill("keep-alive"));
  const drained = gateway.drain();
  const after = await Promise.all(agents.map((agent) => ask(gateway.port, agent)));
  expect(after).toEqual(before.map((answer) => ({ ...answer, connection: "close" })));
  await drained;
  await expect(ask(gateway.port, new Agent())).rejects.toThrow("ECONNREFUSED");
});

test("a stopping gateway waits for idle connections as long as its setting says, and then closes them", async () => {
  await using nats = await testNats();
  const config = readConfig({ NATS_URL: nats.url, PORT: "0", DRAIN_IDLE_MS: "100", DRAIN_MS: "120000" });
  await using gateway = await start(config, { log, now: Date.now, peers });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  expect((await ask(gateway.port, agent)).status).toBe(404);
  await gateway.drain();
  await expect(ask(gateway.port, new Agent())).rejects.toThrow("ECONNREFUSED");
});

test("a stopping gateway does not wait for a client that never finishes", async () => {
  await using nats = await testNats();
  const config = readConfig({ NATS_URL: nats.url, PORT: "0", DRAIN_MS: "50" });
  await using gateway = await start(config, { log, now: Date.now, peers });
  const socket = connect(gateway.port, "127.0.0.1");
  const closed = once(socket, "close");
  await once(socket, "connect");
  socket.write("POST /api/v1/tools/x HTTP/1.1\r\n");
  // Once a later connection has its response, the server has also accepted this one.
  expect((await ask(gateway.port, new Agent())).status).toBe(404);
  await gateway.drain();
  await closed;
});

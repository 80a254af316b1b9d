import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { create } from "@bufbuild/protobuf";
import { generateSecret } from "@toolgate/api-key/secret";
import type { UsageRecord } from "@toolgate/gen/toolgate/events/v1/records_pb";
import { KeyVerdictSchema } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { InvalidArgumentsSchema, RunResponseSchema } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { createLogger } from "@toolgate/service-host/logger";
import type { Peers } from "@toolgate/service-host/peers";
import { remoteTransport } from "@toolgate/service-host/transport";
import { eventually } from "@toolgate/testbed/eventually";
import { testNats } from "@toolgate/testbed/servers";
import { expect, test } from "vitest";
import { readConfig } from "../src/config.ts";
import { createHttpServer } from "../src/http/server.ts";
import { start } from "../src/service.ts";

const REQUEST_TIMEOUT_MS = 200;
const NOBODY_THERE = "http://127.0.0.1:1";
const log = createLogger({ service: "gateway", level: "silent" });

const unused = async () => {
  throw new Error("no call gets this far");
};
const nobody = remoteTransport(NOBODY_THERE, "token");
const peers: Peers = { transport: () => nobody, call: () => unused };

/** The HTTP server alone, in front of one key that is always valid and a tool that takes no arguments. */
async function startServer(usage: UsageRecord[] = []) {
  const key = create(KeyVerdictSchema, { keyId: "k", admitted: true, limit: 60, remaining: 59, toolListed: true });
  const value = create(InvalidArgumentsSchema);
  const refusal = create(RunResponseSchema, { outcome: { case: "invalidArguments", value } });
  const app = await createHttpServer({
    calls: {
      verifyKey: async () => key,
      runTool: async () => refusal,
      usage: {
        async add(record) {
          usage.push(record);
        },
        async [Symbol.asyncDispose]() {},
      },
      log,
      now: Date.now,
    },
    peers,
    trustedProxies: [],
    publicUrl: "",
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    log,
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const address = app.server.address() as { port: number };
  return { port: address.port, [Symbol.asyncDispose]: () => app.close() };
}

/** What a server said to these bytes until it closed the connection. */
async function exchange(port: number, bytes: string): Promise<string> {
  const socket = await connected(port);
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk.toString();
  });
  socket.write(bytes);
  await once(socket, "close");
  return text;
}

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  return socket;
}

test("a request that never becomes whole is cut", async () => {
  await using server = await startServer();
  for (const start of ["", "POST /api", "POST /api/v1/tools/x HTTP/1.1\r\nhost: a\r\nx: "]) {
    expect(await exchange(server.port, start)).toMatch(start === "" ? /^(HTTP\/1.1 408 .*)?$/s : /^HTTP\/1.1 408 /);
  }
});

test("[LOG-2] a body that never ends is cut, and the call of a valid key is recorded", async () => {
  const usage: UsageRecord[] = [];
  await using server = await startServer(usage);
  const head = `POST /api/v1/tools/x HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${generateSecret()}\r\n`;
  expect(await exchange(server.port, `${head}content-length: 50\r\n\r\n{`)).toMatch(/^HTTP\/1.1 408 /);
  await eventually(() => expect(usage).toMatchObject([{ keyId: "k", status: 400, tool: "x" }]));
});

test("[ERR-17] a service that cannot be reached is not named", async () => {
  await using server = await startServer();
  const answer = await fetch(`http://127.0.0.1:${server.port}/toolgate.key_auth.v1.SessionService/Login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"email":"a@a.example","password":"x"}',
  });
  expect(answer.status).toBe(503);
  expect(await answer.json()).toEqual({ code: "unavailable", message: "no response in time, try again" });
});

test("a gateway that stops waits for no client that never finishes", async () => {
  await using nats = await testNats();
  const config = readConfig({ NATS_URL: nats.url, PORT: "0", DRAIN_MS: "50" });
  await using gateway = await start(config, { log, now: Date.now, peers });
  const socket = await connected(gateway.port);
  const closed = once(socket, "close");
  socket.write("POST /api/v1/tools/x HTTP/1.1\r\n");
  // The connection is the server's once another one after it has been answered.
  expect((await fetch(`http://127.0.0.1:${gateway.port}/`)).status).toBe(404);
  await gateway.drain();
  await closed;
});

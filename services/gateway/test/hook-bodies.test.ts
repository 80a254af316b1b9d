import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { create } from "@bufbuild/protobuf";
import { ReceiveResponseSchema } from "@toolgate/gen/toolgate/inbound_hook/v1/receive_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { testServer } from "./test-server.ts";

const BODY_BYTES = 262_144;
const IN_ONE_SHARE = 32;
const CONNECTIONS = 40;

async function startServer() {
  const app = await testServer({
    receiveHook: async ({ body }) =>
      create(ReceiveResponseSchema, { outcome: { case: "acceptedDeliveryId", value: String(body.length) } }),
    trustedProxies: ["127.0.0.1"],
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as { port: number };
  return { port, [Symbol.asyncDispose]: () => app.close() };
}

/** Sends all of a body but its last byte. */
async function openCall(port: number, clientIp: string) {
  const socket: Socket = connect(port, "127.0.0.1");
  const call = { socket, text: "", closed: false };
  socket.on("data", (chunk) => {
    call.text += chunk.toString();
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    call.closed = true;
  });
  await once(socket, "connect");
  socket.write(`POST /api/v1/hooks/hk_a HTTP/1.1\r\nhost: a\r\nx-forwarded-for: ${clientIp}\r\n`);
  socket.write(`content-length: ${BODY_BYTES}\r\n\r\n`);
  socket.write(Buffer.alloc(BODY_BYTES - 1));
  return call;
}

/** The status of a complete call; "cut" when the connection ended before the sender saw one. */
async function post(port: number, clientIp: string): Promise<number | "cut"> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/hooks/hk_a`, {
      method: "POST",
      headers: { "x-forwarded-for": clientIp },
      body: Buffer.alloc(BODY_BYTES),
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return "cut";
  }
}

test("[IN] unfinished bodies of one address get a 503 beyond its share, and other addresses are not affected", async () => {
  await using server = await startServer();
  const calls = await Promise.all(Array.from({ length: CONNECTIONS }, () => openCall(server.port, "192.0.2.1")));
  const refused = await eventually(() => {
    const closed = calls.filter((call) => call.closed);
    return closed.length >= CONNECTIONS - IN_ONE_SHARE && closed;
  });
  await eventually(async () => expect([503, "cut"]).toContain(await post(server.port, "192.0.2.1")));
  const answers = refused.map(({ text }) => text).filter((text) => text !== "");
  expect(answers.length).toBeGreaterThan(0);
  for (const text of answers) {
    expect(text).toMatch(/^HTTP\/1\.1 503 /);
    expect(text).toMatch(/^retry-after: 1\r$/im);
    expect(text).toMatch(/^connection: close\r$/im);
  }
  expect(await post(server.port, "192.0.2.2")).toBe(202);

  const [finishing, ...unfinished] = calls.filter((call) => !call.closed);
  finishing?.socket.write("x");
  await eventually(() => finishing?.text.startsWith("HTTP/1.1 202 "));
  for (const { socket } of unfinished) socket.destroy();
  await eventually(async () => (await post(server.port, "192.0.2.1")) === 202);
  finishing?.socket.destroy();
});

test("[IN] [FAIR] calls of a flooded hook get a 503 while too many of them are in progress, and other hooks are not affected", async () => {
  const flood = 400;
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  let inProgress = 0;
  const app = await testServer({
    async receiveHook({ hook }) {
      inProgress += 1;
      if (hook === "hk_flooded") await answered;
      return create(ReceiveResponseSchema, { outcome: { case: "acceptedDeliveryId", value: "" } });
    },
  });
  try {
    const call = async (hook: string) =>
      (await app.inject({ method: "POST", url: `/api/v1/hooks/${hook}` })).statusCode;
    let ended = 0;
    const calls = Array.from({ length: flood }, async () => {
      const status = await call("hk_flooded");
      ended += 1;
      return status;
    });
    await eventually(() => inProgress + ended === flood);
    expect(inProgress).toBe(256);
    expect(await call("hk_other")).toBe(202);
    answer();
    const statuses = await Promise.all(calls);
    expect(statuses.filter((status) => status === 503)).toHaveLength(flood - 256);
    expect(statuses.filter((status) => status === 202)).toHaveLength(256);
    expect(await call("hk_flooded")).toBe(202);
  } finally {
    await app.close();
  }
});

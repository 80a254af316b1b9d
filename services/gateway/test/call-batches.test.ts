import type { AddressInfo } from "node:net";
import { create } from "@bufbuild/protobuf";
import { generateSecret } from "@toolgate/api-key/secret";
import { KeyVerdictSchema } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { RunResponseSchema } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { type CallBatches, createCallBatches } from "../src/http/tools/call-batches.ts";
import { testServer } from "./test-server.ts";

const [KNOWN, UNKNOWN, UNLUCKY] = [generateSecret(), generateSecret(), generateSecret()];
const CALL = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "echo", arguments: {} } };

/** A gateway for a tool `echo`. A key that is unlucky cannot be looked up. */
async function gateway(batches: CallBatches = createCallBatches()) {
  const addresses: string[] = [];
  const counted = { begun: 0, ended: 0, known: 0 };
  const app = await testServer({
    calls: {
      async verifyKey(secret, { clientIp }) {
        addresses.push(clientIp);
        if (secret === UNLUCKY) throw new Error("no connection");
        if (secret === UNKNOWN) return undefined;
        return create(KeyVerdictSchema, { keyId: "k", workspaceId: "acme", admitted: true, limit: 5, tools: ["echo"] });
      },
      runTool: async () =>
        create(RunResponseSchema, { outcome: { case: "resultJson", value: Buffer.from('{"success":true}') } }),
      batches: {
        async begin(connection) {
          const call = await batches.begin(connection);
          counted.begun += 1;
          return {
            set hasValidKey(value: boolean) {
              call.hasValidKey = value;
              counted.known += 1;
            },
            [Symbol.dispose]() {
              call[Symbol.dispose]();
              counted.ended += 1;
            },
          };
        },
      },
    },
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const send = (path: string, secret: string, body: object, signal?: AbortSignal) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${secret}`,
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
      },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    });
  return { send, counted, addresses, [Symbol.asyncDispose]: () => app.close() };
}

test.each([
  ["over HTTP", "/api/v1/tools/echo", {}],
  ["over MCP", "/mcp", CALL],
])("%s, each call with a key takes part in the batches until it has a response", async (_, path, body) => {
  await using running = await gateway();
  const { counted } = running;
  expect((await running.send(path, KNOWN, body)).status).toBe(200);
  expect(counted).toEqual({ begun: 1, ended: 1, known: 1 });
  expect((await running.send(path, UNKNOWN, body)).status).toBe(401);
  expect(counted).toEqual({ begun: 2, ended: 2, known: 1 });
  expect((await running.send(path, UNLUCKY, body)).status).toBe(500);
  expect(counted).toEqual({ begun: 3, ended: 3, known: 1 });
  // Strangers without a key do not.
  expect((await running.send(path, "sk_none", body)).status).toBe(401);
  expect(counted.begun).toBe(3);
});

test("a call whose client leaves while it waits for its batch is verified all the same, with the client's address", async () => {
  const batch = Promise.withResolvers<void>();
  let waiting = 0;
  let hasLeft = () => false;
  await using running = await gateway({
    async begin(connection) {
      waiting += 1;
      hasLeft = () => connection.destroyed;
      await batch.promise;
      return { hasValidKey: false, [Symbol.dispose]() {} };
    },
  });
  const client = new AbortController();
  const response = running.send("/api/v1/tools/echo", KNOWN, {}, client.signal).catch(() => {});
  await eventually(() => waiting === 1);
  client.abort();
  await eventually(() => hasLeft());
  batch.resolve();
  await response;
  await eventually(() => running.counted.ended === 1);
  expect(running.addresses).toEqual(["127.0.0.1"]);
});

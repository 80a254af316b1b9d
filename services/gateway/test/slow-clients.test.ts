import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { create } from "@bufbuild/protobuf";
import { createRouterTransport } from "@connectrpc/connect";
import { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { UsageRecord } from "@toolgate/gen/toolgate/events/v1/records_pb";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { VerifyResponseSchema } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { InvalidArgumentsSchema, RunResponseSchema } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { generateSecret } from "@toolgate/rules/api-key-secret";
import { remoteTransport } from "@toolgate/service-host/rpc/transport";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { listen, testServer } from "./test-server.ts";

const REQUEST_TIMEOUT_MS = 1_000;
const nobody = remoteTransport(
  () => ["http://127.0.0.1:1"],
  () => "token",
);

/** The HTTP server with one key that is always valid and a tool that takes no arguments. */
async function startServer(usage: UsageRecord[] = [], requestTimeoutMs = REQUEST_TIMEOUT_MS) {
  const key = { keyId: "k", admitted: true, limit: 60, remaining: 59, toolListed: true };
  const value = create(InvalidArgumentsSchema);
  const refusal = create(RunResponseSchema, { outcome: { case: "invalidArguments", value } });
  const app = await testServer({
    calls: {
      verify: async () => create(VerifyResponseSchema, { key }),
      run: async () => refusal,
      usage: { add: async (record) => void usage.push(record), async [Symbol.asyncDispose]() {} },
    },
    transports: { "key-auth": nobody },
    requestTimeoutMs,
  });
  const port = await listen(app);
  return { port, [Symbol.asyncDispose]: () => app.close() };
}

/** What the server sends in response to these bytes until it closes the connection. */
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

test("a request that is never complete is cut", async () => {
  await using server = await startServer();
  const starts = ["", "POST /api", "POST /api/v1/tools/x HTTP/1.1\r\nhost: a\r\nx: "];
  const [nothing, ...partial] = await Promise.all(starts.map((start) => exchange(server.port, start)));
  expect(nothing).toMatch(/^(HTTP\/1.1 408 .*)?$/s);
  for (const response of partial) expect(response).toMatch(/^HTTP\/1.1 408 /);
});

test("[LOG-2] a body that never ends is cut, and a call with a valid key is still logged", async () => {
  const usage: UsageRecord[] = [];
  await using server = await startServer(usage);
  const head = `POST /api/v1/tools/x HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${generateSecret()}\r\n`;
  expect(await exchange(server.port, `${head}content-length: 50\r\n\r\n{`)).toMatch(/^HTTP\/1.1 408 /);
  await eventually(() => expect(usage).toMatchObject([{ keyId: "k", status: 400, tool: "x" }]));
});

test("[ERR-17] the error for a service that is down does not name it", async () => {
  await using server = await startServer([], 60_000);
  const response = await fetch(`http://127.0.0.1:${server.port}/toolgate.key_auth.v1.SessionService/Login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"email":"a@a.example","password":"x"}',
  });
  expect(response.status).toBe(503);
  expect(await response.json()).toEqual({ code: "unavailable", message: "no response in time, try again" });
});

test("[CHAT-11] an upload that drips is cut, although bytes arrive all the time, and so is the call that stores it", async () => {
  let received = "";
  let ended = "";
  const app = await testServer({
    transports: {
      chat: createRouterTransport((router) =>
        router.service(ChatService, {
          async uploadFile(parts) {
            try {
              for await (const { part } of parts) if (part.case === "chunk") received += Buffer.from(part.value);
              ended = "complete";
            } catch {
              ended = "cut";
            }
            return {};
          },
        }),
      ),
      "key-auth": createRouterTransport((router) =>
        router.service(SessionService, { getSession: () => ({ userId: "u" }) }),
      ),
    },
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
  });
  const socket = await connected(await listen(app));
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk.toString();
  });
  // A byte that is sent while the server closes breaks the connection, and the response may be lost with it.
  socket.on("error", () => {});
  const head = "POST /chat/index HTTP/1.1\r\nhost: a\r\nauthorization: Bearer t\r\ncontent-length: 1000000\r\n";
  socket.write(`${head}content-type: multipart/form-data; boundary=b\r\n\r\n`);
  socket.write('--b\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\n');
  const drip = setInterval(() => socket.write("x"), 20);
  await new Promise((resolve) => socket.once("close", resolve));
  clearInterval(drip);
  expect(text).toMatch(/^(HTTP\/1.1 408 .*)?$/s);
  await eventually(() => expect(ended).toBe("cut"));
  expect(received).toMatch(/^x+$/);
  await app.close();
});

import { once } from "node:events";
import { connect } from "node:net";
import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { listen, testServer } from "./test-server.ts";

test.each(["/chat/index", "/chat/reset"])(
  "[CHAT-34] a large JSON body of an unknown login to %s is refused before it has come",
  async (path) => {
    const asked: string[] = [];
    const keyAuth = createRouterTransport((router) => {
      router.rpc(SessionService.method.getSession, ({ token }) => {
        asked.push(token);
        throw new ConnectError("login required", Code.Unauthenticated);
      });
    });
    await using app = await testServer({ transports: { "key-auth": keyAuth } });
    const socket = connect(await listen(app), "127.0.0.1").on("error", () => {});
    await once(socket, "connect");
    const head = `POST ${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer unknown\r\ncontent-type: application/json`;
    socket.write(`${head}\r\ncontent-length: 500000\r\n\r\n{"tenant":"acme"`);
    let response = "";
    socket.on("data", (data) => (response += data.toString()));
    await eventually(() => expect(response).toContain('"code":"UNAUTHENTICATED"'));
    expect(response).toMatch(/^HTTP\/1\.1 401 /);
    expect(asked).toEqual(["unknown"]);
    socket.destroy();
  },
);

import { once } from "node:events";
import { connect } from "node:net";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { listen, testServer } from "./test-server.ts";

const PIECE = Buffer.alloc(1_000_000, "x");
const PIECES = 4;

test.each([
  ["the connection ends", "connection: close\r\n"],
  ["it stays open", ""],
])("a client that goes on sending after an early response is not cut off when %s", async (_what, header) => {
  await using app = await testServer({});
  const port = await listen(app);
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  const errors: string[] = [];
  socket.on("error", ({ message }) => errors.push(message));
  const closed = new Promise((resolve) => socket.once("close", resolve));
  let response = "";
  socket.setEncoding("latin1").on("data", (data) => {
    response += data;
  });
  const length = PIECES * PIECE.length;
  socket.write(`POST /api/v1/hooks/unknown HTTP/1.1\r\nhost: a\r\ncontent-length: ${length}\r\n${header}\r\n`);
  await eventually(() => response.includes("}"));
  expect(response).toMatch(/^HTTP\/1\.1 404 /);
  for (let sent = 0; sent < PIECES && !socket.destroyed; sent += 1) {
    if (!socket.write(PIECE)) await Promise.race([once(socket, "drain"), closed]);
  }
  socket.end();
  await closed;
  expect(errors).toEqual([]);
});

import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import type { Receiver } from "./receivers.ts";
import { httpReceiver, rawReceiver, respondWith } from "./receivers.ts";
import { loopbackFetch, post } from "./sending.ts";

const urlOf = (receiver: Receiver) => `http://127.0.0.1:${receiver.port}/`;

test("[SSRF] sends with one reuse key follow each other on one connection", async () => {
  await using receiver = await httpReceiver((_request, response) => response.end("ok"));
  await using safeFetch = loopbackFetch();
  const reused: boolean[] = [];
  for (let index = 0; index < 20; index++) {
    const result = await safeFetch.send(post(urlOf(receiver), { reuseKey: "k" }));
    expect(result).toMatchObject({ kind: "response", status: 200 });
    reused.push(result.timings.reused);
  }
  expect(receiver.opened()).toBe(1);
  expect(reused).toEqual([false, ...Array(19).fill(true)]);
});

test("[SSRF] without a reuse key, or with another one, nothing is reused", async () => {
  await using receiver = await httpReceiver((_request, response) => response.end("ok"));
  await using safeFetch = loopbackFetch();
  await safeFetch.send(post(urlOf(receiver)));
  await safeFetch.send(post(urlOf(receiver)));
  await eventually(() => receiver.open.size === 0);
  await safeFetch.send(post(urlOf(receiver), { reuseKey: "a" }));
  await safeFetch.send(post(urlOf(receiver), { reuseKey: "b" }));
  expect(receiver.opened()).toBe(4);
});

test("[SSRF] another host name that resolves to the same address does not share a connection", async () => {
  await using receiver = await httpReceiver((request, response) => response.end(request.headers.host));
  await using safeFetch = loopbackFetch({ resolver: async () => ["127.0.0.1"] });
  for (const name of ["a.example.net", "b.example.net"]) {
    const host = `${name}:${receiver.port}`;
    const result = await safeFetch.send(post(`http://${host}/`, { reuseKey: "k" }));
    expect(result.kind === "response" && result.body.toString()).toBe(host);
  }
  expect(receiver.opened()).toBe(2);
});

test("[SSRF-6] when the name resolves to another address, the kept connection is closed and not used", async () => {
  let addresses = ["127.0.0.2"];
  await using former = await rawReceiver(respondWith("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"), "0.0.0.0");
  await using safeFetch = loopbackFetch({ resolver: async () => addresses });
  const request = post(`http://hooks.example.net:${former.port}/`, { reuseKey: "k" });
  expect((await safeFetch.send(request)).timings).toMatchObject({ address: "127.0.0.2", reused: false });
  addresses = ["127.0.0.3"];
  expect((await safeFetch.send(request)).timings).toMatchObject({ address: "127.0.0.3", reused: false });
  await eventually(() => former.open.size === 1);
});

test("[SSRF] idle connections are bounded in all, the least recently used is closed first", async () => {
  await using receiver = await httpReceiver((_request, response) => response.end("ok"));
  await using safeFetch = loopbackFetch({ maxIdleConnections: 3 });
  const sendWith = (reuseKey: string) => safeFetch.send(post(urlOf(receiver), { reuseKey }));
  for (let index = 0; index < 10; index++) await sendWith(`key-${index}`);
  await eventually(() => receiver.open.size === 3);
  expect((await sendWith("key-9")).timings.reused).toBe(true);
  expect((await sendWith("key-0")).timings.reused).toBe(false);
});

test("[SSRF] an idle connection closes before the receiver would close it", async () => {
  const { promise: firstToClose, resolve } = Promise.withResolvers<"sender" | "receiver">();
  await using receiver = await rawReceiver((socket) => {
    socket.once("end", () => resolve("sender"));
    socket.once("data", () => {
      socket.write("HTTP/1.1 200 OK\r\nkeep-alive: timeout=2\r\ncontent-length: 0\r\n\r\n");
      setTimeout(() => {
        resolve("receiver");
        socket.end();
      }, 2_000);
    });
  });
  await using safeFetch = loopbackFetch();
  await safeFetch.send(post(urlOf(receiver), { reuseKey: "k" }));
  expect(await firstToClose).toBe("sender");
});

test("[SSRF] all idle connections close when disposed", async () => {
  await using receiver = await httpReceiver((_request, response) => response.end("ok"));
  const safeFetch = loopbackFetch();
  await Promise.all([1, 2, 3].map(() => safeFetch.send(post(urlOf(receiver), { reuseKey: "k" }))));
  await safeFetch[Symbol.asyncDispose]();
  await eventually(() => receiver.opened() === 3 && receiver.open.size === 0);
});

test.each([
  ["is closed by the receiver", "", { kind: "response", timings: { reused: false } }],
  ["is closed after the first bytes of a response", "HTTP/1.1 2", { kind: "connection-error", code: "closed" }],
])(
  "[OUT-57] a request whose kept connection %s is repeated only before a response has begun",
  async (_, text, expected) => {
    await using receiver = await rawReceiver((socket) => {
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
        socket.once("data", () => socket.end(text));
      });
    });
    await using safeFetch = loopbackFetch();
    const request = post(urlOf(receiver), { reuseKey: "k" });
    expect((await safeFetch.send(request)).kind).toBe("response");
    expect(await safeFetch.send(request)).toMatchObject(expected);
    expect(receiver.opened()).toBe(text === "" ? 2 : 1);
  },
);

test("[OUT-57] a fresh connection that closes is not retried", async () => {
  await using receiver = await rawReceiver((socket) => socket.once("data", () => socket.destroy()));
  await using safeFetch = loopbackFetch();
  const result = await safeFetch.send(post(urlOf(receiver), { reuseKey: "k" }));
  expect(result).toMatchObject({ kind: "connection-error", code: "closed" });
  expect(receiver.opened()).toBe(1);
});

test("[OUT-33] a connection that the receiver closes after its response is not used again", async () => {
  await using receiver = await httpReceiver((_request, response) =>
    response.writeHead(200, { connection: "close" }).end(),
  );
  await using safeFetch = loopbackFetch();
  for (let index = 0; index < 5; index++) {
    expect(await safeFetch.send(post(urlOf(receiver), { reuseKey: "k" }))).toMatchObject({ kind: "response" });
  }
  expect(receiver.opened()).toBe(5);
});

test("[OUT] a second, unrequested response is never taken for that of the next request", async () => {
  const response = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n";
  await using receiver = await rawReceiver(respondWith(`${response}good${response}evil`));
  await using safeFetch = loopbackFetch();
  for (let index = 0; index < 10; index++) {
    const result = await safeFetch.send(post(urlOf(receiver), { reuseKey: "k" }));
    expect(result.kind === "response" && result.body.toString()).toBe("good");
  }
});

test("[OUT-33] a connection whose response comes before the request is fully sent is not kept", async () => {
  await using receiver = await rawReceiver((socket) => {
    socket.once("data", () => {
      socket.pause();
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    });
  });
  await using safeFetch = loopbackFetch();
  const large = post(urlOf(receiver), { reuseKey: "k", body: Buffer.alloc(64 * 1024 * 1024) });
  expect(await safeFetch.send(large)).toMatchObject({ kind: "response", status: 200 });
  const next = await safeFetch.send(post(urlOf(receiver), { reuseKey: "k" }));
  expect(next).toMatchObject({ kind: "response", timings: { reused: false } });
  for (const socket of receiver.open) socket.resume();
});

import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import type { TLSSocket } from "node:tls";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { TlsSessions } from "../src/tls-sessions.ts";
import { certificateFor, httpsReceiver } from "./receivers.ts";
import { loopbackFetch, post } from "./sending.ts";

const NAME = "hooks.example.net";

/** A receiver that closes each connection after one response, and notes which ones resumed a session. */
async function closingReceiver(certificate: { key: string; cert: string }) {
  const resumed: boolean[] = [];
  const receiver = await httpsReceiver((request, response) => {
    resumed.push((request.socket as TLSSocket).isSessionReused());
    response.writeHead(204, { connection: "close" }).end();
  }, certificate);
  return { receiver, resumed };
}

function fetchFrom(ca: string | string[]) {
  return loopbackFetch({ tls: { ca }, resolver: async () => ["127.0.0.1"] });
}

test("[OUT-33] a new connection resumes the session of one with the same reuse key, and no other one", async () => {
  const certificate = await certificateFor(NAME, "other.example.net");
  const { receiver, resumed } = await closingReceiver(certificate);
  await using _ = receiver;
  await using safeFetch = fetchFrom(certificate.cert);
  const send = async (host: string, reuseKey?: string) => {
    const result = await safeFetch.send(post(`https://${host}:${receiver.port}/`, reuseKey ? { reuseKey } : {}));
    expect(result).toMatchObject({ kind: "response", status: 204, timings: { reused: false } });
    await eventually(() => receiver.open.size === 0);
  };
  await send(NAME, "a");
  await send(NAME, "a");
  await send(NAME, "a");
  await send(NAME, "b");
  await send("other.example.net", "a");
  await send(NAME);
  await send(NAME);
  expect(resumed).toEqual([false, true, true, false, false, false, false]);
});

test("[SSRF-6] a server that does not know the session has to show a valid certificate", async () => {
  const good = await certificateFor(NAME);
  const wrong = await certificateFor("wrong.example.net");
  const { receiver } = await closingReceiver(good);
  await using safeFetch = fetchFrom([good.cert, wrong.cert]);
  const request = post(`https://${NAME}:${receiver.port}/`, { reuseKey: "a" });
  expect(await safeFetch.send(request)).toMatchObject({ kind: "response" });
  await receiver[Symbol.asyncDispose]();
  await using impostor = await httpsReceiver((_request, response) => response.end(), wrong, receiver.port);
  expect(impostor.port).toBe(receiver.port);
  expect(await safeFetch.send(request)).toMatchObject({ kind: "connection-error", code: "certificate" });
});

test("[OUT-33] a session with which the handshake never ends is not used again", async () => {
  const certificate = await certificateFor(NAME);
  const { receiver, resumed } = await closingReceiver(certificate);
  await using _ = receiver;
  let isSilent = false;
  const proxy = createServer((socket) => {
    socket.on("error", () => {});
    if (isSilent) return socket.resume();
    const onward = connect(receiver.port, "127.0.0.1").on("error", () => {});
    return socket.pipe(onward).pipe(socket);
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  await using safeFetch = fetchFrom(certificate.cert);
  const { port } = proxy.address() as AddressInfo;
  const request = post(`https://${NAME}:${port}/`, { reuseKey: "a" });
  await safeFetch.send(request);
  await safeFetch.send(request);
  isSilent = true;
  expect((await safeFetch.send({ ...request, deadlineMs: 300 })).kind).not.toBe("response");
  isSilent = false;
  expect(await safeFetch.send(request)).toMatchObject({ kind: "response" });
  proxy.close();
  expect(resumed).toEqual([false, true, false]);
});

test("a session is used for at most ten minutes after the certificate was checked", () => {
  let now = 0;
  const sessions = new TlsSessions(() => now);
  sessions.put("a", Buffer.from("first"));
  now = 599_999;
  expect(sessions.get("a")).toEqual({ session: Buffer.from("first"), checkedAtMs: 0 });
  sessions.put("a", Buffer.from("resumed"), 0);
  sessions.put("b", Buffer.from("checked again"));
  now = 600_000;
  expect(sessions.get("a")).toBeUndefined();
  expect(sessions.get("b")).toBeDefined();
});

test("a large session is not kept, whatever its server chooses", () => {
  const sessions = new TlsSessions();
  sessions.put("a", Buffer.alloc(16_384));
  expect(sessions.get("a")).toBeDefined();
  sessions.put("a", Buffer.alloc(16_385));
  expect(sessions.get("a")).toBeUndefined();
});

test("only the newest 2,048 sessions are kept", () => {
  const sessions = new TlsSessions();
  for (let index = 0; index <= 2_048; index += 1) sessions.put(String(index), Buffer.alloc(1));
  expect(sessions.get("0")).toBeUndefined();
  expect(sessions.get("1")).toBeDefined();
});

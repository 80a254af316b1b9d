import type { Socket } from "node:net";
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from "node:tls";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { certificateFor, certificateOf, floodWith, httpsReceiver, rawReceiver } from "./receivers.ts";
import { loopbackFetch, post } from "./sending.ts";

const DAY_MS = 86_400_000;
/** Long enough to connect, also on a busy machine. */
const SHORT_DEADLINE_MS = 1_000;
const MAX_IN_BUFFERS_BYTES = 16 * 1024 * 1024;
const NAME = "hooks.example.net";
const WRONG_NAME = "the certificate is not valid for this host";

const daysFromNow = (days: number) => new Date(Date.now() + days * DAY_MS);

test.each([
  [
    "expired",
    "the certificate has expired",
    [NAME],
    { notBeforeDate: daysFromNow(-20), notAfterDate: daysFromNow(-10) },
  ],
  [
    "not valid yet",
    "the certificate is not valid yet",
    [NAME],
    { notBeforeDate: daysFromNow(10), notAfterDate: daysFromNow(20) },
  ],
  ["for another name", WRONG_NAME, ["other.example.net"], {}],
  ["for a wildcard of the wrong depth", WRONG_NAME, ["*.hooks.example.net"], {}],
  ["for the address instead of the name", WRONG_NAME, ["127.0.0.1"], {}],
])(
  "[SSRF-6] a trusted certificate that is %s is refused, and no request is sent",
  async (_, message, names, validity) => {
    const pem = await certificateOf(names, validity);
    let requests = 0;
    await using receiver = await httpsReceiver((_request, response) => {
      requests += 1;
      response.end();
    }, pem);
    await using safeFetch = loopbackFetch({ resolver: async () => ["127.0.0.1"], tls: { ca: pem.cert } });
    expect(await safeFetch.send(post(`https://${NAME}:${receiver.port}/`))).toMatchObject({ message });
    await eventually(() => receiver.open.size === 0);
    expect([receiver.opened(), requests]).toEqual([1, 0]);
  },
);

test("[SSRF-6] configured certificates are trusted in addition to the usual authorities", async () => {
  const usual = { name: "usual.example", pem: await certificateFor("usual.example") };
  const own = { name: "own.example", pem: await certificateFor("own.example") };
  const before = getCACertificates();
  setDefaultCACertificates([...before, usual.pem.cert]);
  try {
    await using safeFetch = loopbackFetch({ resolver: async () => ["127.0.0.1"], tls: { ca: own.pem.cert } });
    for (const { name, pem } of [usual, own]) {
      await using receiver = await httpsReceiver((_request, response) => response.end(), pem);
      expect((await safeFetch.send(post(`https://${name}:${receiver.port}/`))).kind, name).toBe("response");
    }
  } finally {
    setDefaultCACertificates(before);
  }
});

test("[SSRF-6] TLS before 1.2 is refused", async () => {
  const pem = await certificateFor(NAME);
  const server = createTlsServer({ ...pem, minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "ALL:@SECLEVEL=0" });
  await using receiver = await rawReceiver((socket) => void server.emit("connection", socket));
  server.on("tlsClientError", () => undefined);
  await using safeFetch = loopbackFetch({ resolver: async () => ["127.0.0.1"], tls: { ca: pem.cert } });
  expect(await safeFetch.send(post(`https://${NAME}:${receiver.port}/`))).toMatchObject({ code: "tls" });
});

/** The beginning of a handshake record that announces the longest message there is. */
const ENDLESS_HELLO = Buffer.from([0x16, 0x03, 0x03, 0x40, 0x00, 0x02, 0xff, 0xff, 0xff]);

const dripHello = (socket: Socket) => {
  socket.resume();
  socket.write(ENDLESS_HELLO);
  const timer = setInterval(() => socket.write("\u0000"), 5);
  socket.on("close", () => clearInterval(timer));
};

test.each([
  ["never begins", (socket: Socket) => void socket.resume()],
  ["drips", dripHello],
])("[OUT-34] a handshake that %s ends at the deadline", async (_title, onSocket) => {
  await using receiver = await rawReceiver(onSocket);
  await using safeFetch = loopbackFetch();
  const result = await safeFetch.send(post(`https://127.0.0.1:${receiver.port}/`, { deadlineMs: SHORT_DEADLINE_MS }));
  expect(result).toMatchObject({ kind: "timeout", phase: "tls" });
  await eventually(() => receiver.open.size === 0);
});

test.each([
  ["of one message without end", ENDLESS_HELLO.toString("latin1"), "\u0000".repeat(65_536)],
  ["of warnings without end", "", "\u0015\u0003\u0003\u0000\u0002\u0001\u005a".repeat(8_192)],
  ["of bytes that are not TLS", "", "x".repeat(65_536)],
])("[OUT-38] a handshake %s is aborted", async (_title, head, filler) => {
  const flood = floodWith(head, filler);
  await using receiver = await rawReceiver(flood.onSocket);
  await using safeFetch = loopbackFetch();
  expect(await safeFetch.send(post(`https://127.0.0.1:${receiver.port}/`))).toMatchObject({
    kind: "connection-error",
    code: "tls",
  });
  await eventually(() => receiver.open.size === 0);
  expect(flood.acceptedBytes()).toBeLessThan(MAX_IN_BUFFERS_BYTES);
});

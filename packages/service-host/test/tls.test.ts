import { connect as connectHttp2 } from "node:http2";
import { connect as connectTcp } from "node:net";
import { text } from "node:stream/consumers";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import { type Authority, createAuthority, type Issued } from "@toolgate/testbed/certificates";
import { eventually } from "@toolgate/testbed/eventually";
import { beforeAll, expect, test } from "vitest";
import { clientOf, secureServer, tlsOf } from "./tls-rig.ts";

let authority: Authority;
let foreign: Authority;
let own: Issued & { ca: string };
beforeAll(async () => {
  // Of the same name: only the key tells them apart.
  [authority, foreign] = await Promise.all([createAuthority(), createAuthority()]);
  own = { ...(await authority.issue()), ca: authority.ca };
});

/** Whether a server responds to a request over HTTP/2, with these certificates. */
async function admitted(port: number, options: ConnectionOptions): Promise<boolean> {
  const secure = { ca: authority.ca, ...options, host: "127.0.0.1", port, ALPNProtocols: ["h2"] };
  const session = connectHttp2(`https://127.0.0.1:${port}`, { createConnection: () => connect(secure) });
  try {
    return await new Promise<boolean>((resolve) => {
      session.on("error", () => resolve(false));
      session.on("close", () => resolve(false));
      const stream = session.request({ ":path": "/none", ":method": "POST" });
      stream.on("error", () => resolve(false));
      stream.on("response", (headers) => resolve(headers[":status"] === 404));
    });
  } finally {
    session.destroy();
  }
}

test("a server refuses clients without a certificate, with one of another authority, an expired one, and without TLS", async () => {
  await using tls = await tlsOf(own);
  await using server = await secureServer(tls);
  const { port } = server;
  expect(await admitted(port, own)).toBe(true);
  expect(await admitted(port, {})).toBe(false);
  expect(await admitted(port, await foreign.issue())).toBe(false);
  expect(await admitted(port, await authority.issue({ days: -1 }))).toBe(false);
  expect(await admitted(port, await authority.issue({ uses: "serverAuth" }))).toBe(false);
  expect(await admitted(port, { ...own, maxVersion: "TLSv1.2" })).toBe(false);
  const plain = connectTcp(port, "127.0.0.1");
  plain.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  expect(await text(plain)).not.toContain("HTTP");
  await using unencrypted = clientOf(`http://127.0.0.1:${port}`);
  await expect(unencrypted.unary(2_000)).rejects.toThrow();
  await expect(unencrypted.hot(2_000)).rejects.toThrow();
  expect(await admitted(port, own)).toBe(true);
});

test("a server logs why it refused a client, at most every 10 s, and nothing of a mere connection", async () => {
  await using tls = await tlsOf(own);
  await using server = await secureServer(tls);
  await new Promise((resolve) => connectTcp(server.port, "127.0.0.1").on("close", resolve).end());
  const expired = await authority.issue({ days: -1 });
  for (let attempt = 0; attempt < 3; attempt += 1) expect(await admitted(server.port, expired)).toBe(false);
  const refusals = () => tls.entries.filter(({ level }) => level === "warn");
  await eventually(() => refusals().length > 0);
  expect(refusals()).toMatchObject([{ reason: "CERT_HAS_EXPIRED" }]);
});

test("a client refuses servers of another authority or with another name", async () => {
  await using tls = await tlsOf(own);
  const strangers = {
    "another authority": { ...(await foreign.issue()), ca: foreign.ca },
    "another name": { ...(await authority.issue({ names: "DNS:chat.example" })), ca: authority.ca },
    "no address": { ...(await authority.issue({ names: "DNS:localhost" })), ca: authority.ca },
  };
  for (const [name, content] of Object.entries(strangers)) {
    await using other = await tlsOf(content);
    await using server = await secureServer(other);
    await using client = clientOf(server.url, tls);
    await expect(client.unary(2_000), name).rejects.toThrow();
    await expect(client.hot(1_000), name).rejects.toThrow();
    expect(JSON.stringify(client.entries), name).toMatch(/certificate signature|self.signed|altnames/);
  }
});

test("a host name in a URL is what the certificate must be valid for, also on call streams, which go to its addresses", async () => {
  await using named = await tlsOf({ ...(await authority.issue({ names: "DNS:localhost" })), ca: authority.ca });
  await using server = await secureServer(named);
  await using client = clientOf(`https://localhost:${server.port}`, named);
  expect((await client.unary()).token).toBe("t");
  await client.hot();
});

test("new certificates are used for new connections on both sides, and open ones continue", async () => {
  await using tls = await tlsOf(own);
  await using server = await secureServer(tls);
  await using early = clientOf(server.url, tls);
  await Promise.all([early.unary(), early.hot()]);
  const next = await foreign.issue();
  const loaded = async (count: number) =>
    eventually(() => tls.entries.filter(({ msg }) => msg === "certificates loaded").length === count);
  const shown = () =>
    new Promise<string>((resolve, reject) => {
      const socket: TLSSocket = connect({ ...tls.clientOptions(server.url) }, () => {
        resolve(socket.getPeerX509Certificate()?.toString() ?? "");
        socket.destroy();
      });
      socket.on("error", reject);
    });
  expect(await shown()).toBe(own.cert);
  await tls.files.write({ ca: authority.ca + foreign.ca });
  await loaded(1);
  expect(await admitted(server.port, own)).toBe(true);
  expect(await admitted(server.port, next)).toBe(true);
  await tls.files.write(next);
  await eventually(async () => expect(await shown()).toBe(next.cert));
  await tls.files.write({ ca: foreign.ca });
  await eventually(async () => expect(await admitted(server.port, { ...own, ca: foreign.ca })).toBe(false));
  expect(await admitted(server.port, { ...next, ca: foreign.ca })).toBe(true);
  await using late = clientOf(server.url, tls);
  await Promise.all([early.unary(), early.hot(), late.unary(), late.hot()]);
  expect(early.entries).toEqual([]);
});

test("files that cannot be used change nothing, and are logged once", async () => {
  await using tls = await tlsOf(own);
  await using server = await secureServer(tls);
  const other = await authority.issue();
  const faults: [Partial<Issued & { ca: string }>, RegExp][] = [
    [{ ca: own.ca.slice(0, 200) }, /TLS_CA_FILE must have certificates in PEM/],
    [{ ca: foreign.ca }, /not signed by an authority in TLS_CA_FILE/],
    [{ ca: `${own.ca}-----BEGIN CERTIFICATE-----\nMII` }, /TLS_CA_FILE must have certificates in PEM/],
    [{ ca: own.ca.replace(/\n[^-\n]{10}/, "\nAAAAAAAAAA") }, /TLS_CA_FILE has a damaged certificate/],
    [{ cert: "" }, /TLS_CERT_FILE must have certificates/],
    [{ key: other.key }, /does not belong/],
    [{ key: own.key.slice(0, 90) }, /TLS_KEY_FILE must have a private key/],
    [await authority.issue({ days: -1 }), /valid only from/],
    [await authority.issue({ uses: "serverAuth" }), /for servers and for clients/],
  ];
  const errors = () => tls.entries.filter(({ level }) => level === "error").map(({ err }) => JSON.stringify(err));
  for (const [index, [fault, reason]] of faults.entries()) {
    await tls.files.write({ ...own, ...fault });
    await eventually(() => errors().length === index + 1);
    expect(errors().at(-1)).toMatch(reason);
    expect(await admitted(server.port, own)).toBe(true);
    await using client = clientOf(server.url, tls);
    await client.unary();
  }
  await tls.files.write({ ...other, ca: own.ca });
  await eventually(() => tls.entries.some(({ msg }) => msg === "certificates loaded"));
  expect(errors().length).toBe(faults.length);
  expect(JSON.stringify(tls.entries)).not.toContain("PRIVATE KEY");
});

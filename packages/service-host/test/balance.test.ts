import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { createClient } from "@connectrpc/connect";
import { Http2Connections } from "@toolgate/call-stream/http2-connections";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, onTestFinished, test, vi } from "vitest";
import { remoteTransport } from "../src/rpc/transport.ts";
import { rpcRig, TOKEN } from "./rpc-rig.ts";

const CALLS = 40;
/** Longer than the addresses of servers are used without a new lookup. */
const LATER_MS = 6_000;

const named = (name: string) => rpcRig((router) => router.service(SessionService, { login: () => ({ token: name }) }));

/** The servers of a service, which the client looks up: the test changes them. */
function clientOf(...servers: { baseUrl: string }[]) {
  const found = { servers, lookups: 0, fails: false };
  const addresses = async () => {
    found.lookups += 1;
    if (found.fails) throw new Error("no name server");
    return found.servers.map((server) => server.baseUrl);
  };
  const client = createClient(
    SessionService,
    remoteTransport(addresses, () => TOKEN),
  );
  return { found, login: async () => (await client.login({})).token };
}

/** The next call finds the known addresses old; after it they have been looked up. */
async function later({ found, login }: ReturnType<typeof clientOf>): Promise<void> {
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + LATER_MS);
  onTestFinished(() => void clock.mockRestore());
  const { lookups } = found;
  await login();
  await eventually(() => expect(found.lookups).toBeGreaterThan(lookups));
  clock.mockRestore();
}

test("all servers of a service get calls, also those that are added, and those that leave get no more", async () => {
  await using first = await named("first");
  await using second = await named("second");
  await using added = await named("added");
  const service = clientOf(first, second);
  const { found, login } = service;
  const four = async () => [await login(), await login(), await login(), await login()].sort();
  await eventually(async () => expect(await four()).toEqual(["first", "first", "second", "second"]));
  found.servers = [second, added];
  await later(service);
  await eventually(async () => expect(await four()).toEqual(["added", "added", "second", "second"]));
});

test("a lookup that fails leaves the known servers in use, and without any the call fails", async () => {
  await using server = await named("s");
  const service = clientOf(server);
  service.found.fails = true;
  await expect(service.login()).rejects.toThrow("no name server");
  service.found.fails = false;
  expect(await service.login()).toBe("s");
  service.found.fails = true;
  await later(service);
  expect(await service.login()).toBe("s");
});

test("a call that finds its only server gone looks the addresses up at once", async () => {
  const leaving = await named("leaving");
  await using staying = await named("staying");
  const { found, login } = clientOf(leaving);
  expect(await login()).toBe("leaving");
  found.servers = [staying];
  await leaving[Symbol.asyncDispose]();
  expect(await login()).toBe("staying");
});

test("a server that does not answer delays no call while another is connected", async () => {
  await using server = await named("s");
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  onTestFinished(() => void silent.close());
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  // Its handshake never ends.
  const connectHttp2 = (address: string) =>
    new URL(address).port === `${port}`
      ? connectTls({ port, host: "127.0.0.1" })
      : (connect(Number(new URL(address).port), "127.0.0.1") as TLSSocket);
  const addresses = () => [`http://127.0.0.1:${port}`, server.baseUrl];
  const client = createClient(
    SessionService,
    remoteTransport(addresses, () => TOKEN, { connectHttp2 }),
  );
  await client.login({});
  const waits = vi.spyOn(Http2Connections.prototype, "connect");
  onTestFinished(() => void waits.mockRestore());
  for (let call = 0; call < CALLS; call += 1) expect((await client.login({})).token).toBe("s");
  // In the background, once a second.
  expect(waits.mock.calls.length).toBeLessThan(CALLS / 2);
});

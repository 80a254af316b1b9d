import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { createClient } from "@connectrpc/connect";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { startTcpProxy } from "@toolgate/testbed/servers/tcp-proxy";
import { expect, onTestFinished, test } from "vitest";
import { remoteTransport } from "../src/rpc/transport.ts";
import { rpcRig, TOKEN } from "./rpc-rig.ts";

// A connection notices its end in steps, and in between the next call may come: the tests make it from the socket's events.

const named = (name: string) => rpcRig((router) => router.service(SessionService, { login: () => ({ token: name }) }));

/** A client, and its sockets in the order in which it opened them. */
function clientOf(...urls: string[]) {
  const sockets: Socket[] = [];
  const connectHttp2 = (address: string) => {
    const socket = connect(Number(new URL(address).port), "127.0.0.1");
    sockets.push(socket);
    return socket as TLSSocket;
  };
  const client = createClient(
    SessionService,
    remoteTransport(
      () => urls,
      () => TOKEN,
      { connectHttp2 },
    ),
  );
  return { sockets, login: async () => (await client.login({})).token };
}

/** Errors that would end a process. */
function recordCrashes(): unknown[] {
  const crashes: unknown[] = [];
  const record = (error: unknown) => crashes.push(error);
  process.on("uncaughtExceptionMonitor", record);
  onTestFinished(() => void process.off("uncaughtExceptionMonitor", record));
  return crashes;
}

test("a connection that breaks in the moment of the next call neither ends the process nor fails the call", async () => {
  await using rig = await named("s");
  await using proxy = await startTcpProxy(rig.baseUrl);
  const { sockets, login } = clientOf(proxy.url);
  const crashes = recordCrashes();
  await login();
  const next = new Promise((resolve) => sockets[0]?.once("error", () => resolve(login())));
  proxy.reset();
  expect(await next).toBe("s");
  expect(crashes).toEqual([]);
});

test("a server that stops in the moment of the next calls neither ends their process nor fails them", async () => {
  await using staying = await named("staying");
  const stopping = await named("stopping");
  const { sockets, login } = clientOf(stopping.baseUrl, staying.baseUrl);
  const crashes = recordCrashes();
  await eventually(async () => expect([await login(), await login()].sort()).toEqual(["staying", "stopping"]));
  const socket = sockets.find(({ remotePort }) => `${remotePort}` === new URL(stopping.baseUrl).port) as Socket;
  const closed = once(socket, "close");
  const next = once(socket, "finish").then(() => Promise.all([login(), login()]));
  await stopping[Symbol.asyncDispose]();
  expect(await next).toEqual(["staying", "staying"]);
  await closed;
  expect(crashes).toEqual([]);
});

import { setTimeout as delay } from "node:timers/promises";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { startTcpProxy } from "@toolgate/testbed/servers/tcp-proxy";
import { expect, test } from "vitest";
import { rpcRig, transportTo } from "./rpc-rig.ts";

const SHORT_MS = 300;
/** Longer than it takes to notice a dead server. */
const NOTICED_MS = 6_000;

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => ConnectError.from(error).code,
  );

test("a connection that dies silently fails the calls on it, however short, and no later one", async () => {
  await using rig = await rpcRig((router) => router.service(SessionService, { login: () => ({ token: "s" }) }));
  await using proxy = await startTcpProxy(rig.baseUrl);
  const client = createClient(SessionService, transportTo(proxy.url));
  expect((await client.login({})).token).toBe("s");
  proxy.freeze();
  const onIt = [1, 2, 3].map(() => codeOf(client.login({}, { timeoutMs: SHORT_MS })));
  expect(await Promise.all(onIt)).toEqual(Array(3).fill(Code.DeadlineExceeded));
  // No call is open meanwhile.
  await delay(NOTICED_MS);
  for (let call = 0; call < 3; call += 1) expect(await codeOf(client.login({}))).toBeUndefined();
  expect(proxy.connections).toBe(2);
});

test("a connection that dies silently ends a call long before its time is over", async () => {
  await using rig = await rpcRig((router) => router.service(SessionService, { login: () => ({ token: "s" }) }));
  await using proxy = await startTcpProxy(rig.baseUrl);
  const client = createClient(SessionService, transportTo(proxy.url));
  expect((await client.login({})).token).toBe("s");
  proxy.freeze();
  expect(await codeOf(client.login({}, { timeoutMs: 300_000 }))).toBe(Code.Unavailable);
});

import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { startTcpProxy } from "@toolgate/testbed/tcp-proxy";
import { expect, test } from "vitest";
import { rpcRig, transportTo } from "./rpc-rig.ts";

const SHORT_MS = 300;
const LONG_MS = 20_000;

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => ConnectError.from(error).code,
  );

test("a connection that dies silently fails the calls on it, and no later one", async () => {
  await using rig = await rpcRig((router) => router.service(SessionService, { login: () => ({ token: "s" }) }));
  await using proxy = await startTcpProxy(rig.baseUrl);
  const client = createClient(SessionService, transportTo(proxy.url));
  expect((await client.login({})).token).toBe("s");
  proxy.freeze();
  const onIt = [1, 2, 3].map(() => codeOf(client.login({}, { timeoutMs: SHORT_MS })));
  expect(await Promise.all(onIt)).toEqual(Array(3).fill(Code.DeadlineExceeded));
  for (let call = 0; call < 3; call += 1) expect((await client.login({}, { timeoutMs: LONG_MS })).token).toBe("s");
  expect(proxy.connections).toBe(2);
});

test("a call that was only slow does not affect the other calls on its connection", async () => {
  const [entered, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using rig = await rpcRig((router) =>
    router.service(SessionService, {
      async login({ email }) {
        if (email !== "") entered.resolve();
        if (email !== "") await gate.promise;
        return { token: email };
      },
    }),
  );
  await using proxy = await startTcpProxy(rig.baseUrl);
  const client = createClient(SessionService, transportTo(proxy.url));
  const patient = client.login({ email: "patient" }, { timeoutMs: LONG_MS });
  await entered.promise;
  expect(await codeOf(client.login({ email: "hasty" }, { timeoutMs: SHORT_MS }))).toBe(Code.DeadlineExceeded);
  await client.login({}, { timeoutMs: LONG_MS });
  expect(proxy.connections).toBe(2);
  gate.resolve();
  expect((await patient).token).toBe("patient");
});

test("a connection that dies silently ends a call long before its time is over", async () => {
  await using rig = await rpcRig((router) => router.service(SessionService, { login: () => ({ token: "s" }) }));
  await using proxy = await startTcpProxy(rig.baseUrl);
  const client = createClient(SessionService, transportTo(proxy.url));
  expect((await client.login({})).token).toBe("s");
  proxy.freeze();
  expect(await codeOf(client.login({}, { timeoutMs: 300_000 }))).toBe(Code.Unavailable);
});

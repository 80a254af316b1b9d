import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { startTcpProxy } from "@toolgate/testbed/tcp-proxy";
import { expect, test } from "vitest";
import { rpcRig, transportTo } from "./rpc-rig.ts";

test("a connection that dies silently ends a call long before its time is over", async () => {
  await using rig = await rpcRig((router) => router.service(SessionService, { login: () => ({ token: "s" }) }));
  await using proxy = await startTcpProxy(rig.baseUrl);
  const client = createClient(SessionService, transportTo(proxy.url));
  expect((await client.login({})).token).toBe("s");
  proxy.freeze();
  const call = client.login({}, { timeoutMs: 300_000 });
  expect(ConnectError.from(await call.catch((error) => error)).code).toBe(Code.Unavailable);
});

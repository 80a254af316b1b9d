import { create } from "@bufbuild/protobuf";
import { createRouterTransport } from "@connectrpc/connect";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { type VerifyRequest, VerifyResponseSchema } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { generateSecret } from "@toolgate/rules/api-key-secret";
import { expect, test } from "vitest";
import { testServer } from "./test-server.ts";

/** Collects the client addresses that the gateway reports to Verify and with a login. */
async function gateway(trustedProxies: string[]) {
  const verified: VerifyRequest[] = [];
  const logins: (string | null)[] = [];
  const keyAuth = createRouterTransport((router) => {
    router.rpc(SessionService.method.login, (_, context) => {
      logins.push(context.requestHeader.get("toolgate-client-address"));
      return { token: "t" };
    });
  });
  const verify = async (request: VerifyRequest) => {
    verified.push(request);
    return create(VerifyResponseSchema);
  };
  const app = await testServer({ calls: { verify }, transports: { "key-auth": keyAuth }, trustedProxies });
  const addresses = async (forwardedFor: string | undefined, remoteAddress = "127.0.0.1") => {
    verified.length = 0;
    const headers = {
      authorization: `Bearer ${generateSecret()}`,
      ...(forwardedFor !== undefined && { "x-forwarded-for": forwardedFor }),
      "toolgate-client-address": "198.51.100.99",
      forwarded: "for=198.51.100.98",
      "x-real-ip": "198.51.100.97",
    };
    const requests = [
      { method: "POST", url: "/api/v1/tools/x" },
      { method: "GET", url: "/api/v1/tools/x" },
      { method: "GET", url: "/api/v1/openapi.json" },
      { method: "POST", url: "/mcp" },
    ] as const;
    for (const request of requests) await app.inject({ ...request, headers, remoteAddress });
    const login = { method: "POST", url: "/session", headers, payload: { email: "a", password: "b" } } as const;
    await app.inject({ ...login, remoteAddress });
    expect(verified.length).toBe(requests.length);
    return [...new Set([...verified.map(({ clientIp }) => clientIp), logins.pop()])];
  };
  return { addresses, [Symbol.asyncDispose]: () => app.close() };
}

test("[LOG] without trusted proxies no header changes the address that is reported", async () => {
  await using running = await gateway([]);
  expect(await running.addresses("203.0.113.9")).toEqual(["127.0.0.1"]);
  expect(await running.addresses(undefined, "::ffff:203.0.113.7")).toEqual(["203.0.113.7"]);
});

test("[LOG] behind a trusted proxy the address is the one that the nearest untrusted hop came from", async () => {
  await using running = await gateway(["127.0.0.1", "10.0.0.0/8"]);
  expect(await running.addresses("203.0.113.9")).toEqual(["203.0.113.9"]);
  expect(await running.addresses("198.51.100.1, 203.0.113.9, 10.1.2.3")).toEqual(["203.0.113.9"]);
  expect(await running.addresses("203.0.113.9", "192.0.2.4")).toEqual(["192.0.2.4"]);
  expect(await running.addresses(undefined)).toEqual(["127.0.0.1"]);
  expect(await running.addresses("nonsense")).toEqual([""]);
});

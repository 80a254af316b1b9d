import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import {
  AuthorizeRequestSchema,
  AuthorizeResponseSchema,
  SessionService,
} from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { VerifyRequestSchema, VerifyResponseSchema, VerifyService } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { ListLockedWorkspacesResponseSchema } from "@toolgate/gen/toolgate/key_auth/v1/workspace_pb";
import { testTokens } from "@toolgate/testbed/service-identity";
import { expect, test } from "vitest";
import { createLogger } from "../src/process/logger.ts";
import { localServices } from "../src/rpc/local-services.ts";
import { readPeerUrls, remotePeers } from "../src/rpc/peers.ts";
import type { Service } from "../src/service.ts";

const log = createLogger({ service: "test", level: "silent" });

/** key-auth as the gateway calls it. */
function localPeers() {
  const services = localServices({ log });
  return { add: services.add, ...services.peersOf("gateway") };
}

const HOT_CALLS = {
  verify: async () => create(VerifyResponseSchema),
  authorize: async () => create(AuthorizeResponseSchema, { userId: "7" }),
  listLockedWorkspaces: async () => create(ListLockedWorkspacesResponseSchema),
};

function keyAuth(hotCalls: Service["hotCalls"] = HOT_CALLS): Service {
  return {
    routes: (router) => router.service(SessionService, { login: () => ({ token: "t" }) }),
    ...(hotCalls && { hotCalls }),
    ready: async () => {},
    drain: async () => {},
    async [Symbol.asyncDispose]() {},
  };
}

test("peers of the same process can be looked up before they start, and called once they have started", async () => {
  const peers = localPeers();
  const sessions = createClient(SessionService, peers.transport("key-auth"));
  const verify = peers.call(VerifyService.method.verify);
  const request = create(VerifyRequestSchema);
  const early = [sessions.login({}), verify(request)];
  for (const outcome of await Promise.allSettled(early)) {
    const reason = outcome.status === "rejected" ? ConnectError.from(outcome.reason) : undefined;
    expect([reason?.code, reason?.rawMessage]).toEqual([Code.Unavailable, "key-auth has not started yet"]);
  }
  peers.add("key-auth", keyAuth());
  expect((await sessions.login({})).token).toBe("t");
  expect(await verify(request)).toEqual(create(VerifyResponseSchema));
});

test("a hot call of a service whose other calls are unary can be made both ways", async () => {
  const peers = localPeers();
  peers.add("key-auth", keyAuth());
  const sessions = createClient(SessionService, peers.transport("key-auth"));
  expect((await sessions.authorize({})).userId).toBe("7");
  const authorize = peers.call(SessionService.method.authorize);
  expect((await authorize(create(AuthorizeRequestSchema))).userId).toBe("7");
});

test("a service without the handler of one of its hot calls does not start", () => {
  expect(() => localPeers().add("key-auth", keyAuth({}))).toThrow("key-auth has no handler for Verify");
});

test("the URLs of a service's peers must be set, in a process of some roles only those that they call", async () => {
  expect(() => readPeerUrls({}, "gateway")).toThrow(
    "configuration: KEY_AUTH_URL is missing; TOOL_RUNNER_URL is missing; CHAT_URL is missing; INBOUND_HOOK_URL is missing; OUTBOUND_WEBHOOK_URL is missing",
  );
  expect(() => readPeerUrls({}, "outbound-webhook")).toThrow("configuration: KEY_AUTH_URL is missing");
  expect(() => readPeerUrls({ ROLES: "worker,dispatcher" }, "outbound-webhook")).toThrow("KEY_AUTH_URL is missing");
  expect(() => readPeerUrls({ ROLES: "worker" }, "chat")).toThrow("configuration: TOOL_RUNNER_URL is missing");
  const urls = readPeerUrls({ ROLES: "worker" }, "outbound-webhook");
  await using peers = remotePeers(urls, { log, tokens: testTokens("gateway") });
  expect(() => peers.transport("key-auth")).toThrow("configuration: KEY_AUTH_URL is missing");
});

test("only methods that the registry lists are hot calls", () => {
  expect(() => localPeers().call(SessionService.method.login)).toThrow(
    "toolgate.key_auth.v1.SessionService/Login is not a hot call",
  );
});

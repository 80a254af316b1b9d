import { Code, ConnectError, type ConnectRouter, createClient, type Transport } from "@connectrpc/connect";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { DataSourceService } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { claimsOf, newSigningKey, principalHeaders } from "@toolgate/testbed/principals";
import { serviceToken, testServiceKeys } from "@toolgate/testbed/service-identity";
import { testAuthentication, testTransport } from "@toolgate/testbed/transports";
import { describe, expect, test } from "vitest";
import { accessOf, assertAccessDeclared, callableFromOutside } from "../src/access.ts";
import { newServiceKey } from "../src/identity/service-keys.ts";
import { SERVICE_TOKEN_HEADER } from "../src/identity/service-token.ts";
import { type MemberRole, PRINCIPAL_HEADER, type Principal, principalOf } from "../src/principal.ts";
import { localServer } from "../src/rpc/transport.ts";
import { CALLED, recordedLog, rpcRig, TOKEN, transportTo, undeclaredService } from "./rpc-rig.ts";

const seen: Principal[] = [];

function routes(router: ConnectRouter): void {
  router.service(ToolService, {
    listTools(_, context) {
      seen.push(principalOf(context));
      return {};
    },
    deleteTool: () => ({}),
    checkTools: () => ({}),
  });
  router.service(DataSourceService, { setDataSource: () => ({}) });
  router.service(SessionService, { login: () => ({}) });
}

const principalWith = (role: string): Principal => ({
  userId: "u1",
  email: "a@example.com",
  workspaceId: "w1",
  workspace: "acme",
  role: role as MemberRole,
});

/** One RPC for each level of access. */
function callsOf(transport: Transport) {
  const [tools, data, sessions] = [ToolService, DataSourceService, SessionService] as const;
  return {
    internal: (headers: Record<string, string>) => createClient(tools, transport).checkTools({}, { headers }),
    public: (headers: Record<string, string>) => createClient(sessions, transport).login({}, { headers }),
    member: (headers: Record<string, string>) => createClient(tools, transport).listTools({}, { headers }),
    manager: (headers: Record<string, string>) => createClient(tools, transport).deleteTool({}, { headers }),
    admin: (headers: Record<string, string>) => createClient(data, transport).setDataSource({}, { headers }),
  };
}

async function outcome(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => "admitted",
    (error) => Code[ConnectError.from(error).code] ?? "?",
  );
}

const ADMITTED: Record<string, readonly string[]> = {
  none: ["internal", "public"],
  member: ["internal", "public", "member"],
  manager: ["internal", "public", "member", "manager"],
  admin: ["internal", "public", "member", "manager", "admin"],
};

describe.each(["over gRPC", "in the process"])("%s", (way) => {
  test.each(Object.entries(ADMITTED))("the role %s may call exactly the RPCs of its levels", async (role, levels) => {
    await using rig = await rpcRig(routes);
    const transport = way === "over gRPC" ? transportTo(rig.baseUrl) : testTransport(routes, recordedLog().log);
    const headers: Record<string, string> = role === "none" ? {} : principalHeaders(principalWith(role));
    for (const [level, call] of Object.entries(callsOf(transport))) {
      const refusal = role === "none" ? "Unauthenticated" : "PermissionDenied";
      expect([level, await outcome(call(headers))]).toEqual([level, levels.includes(level) ? "admitted" : refusal]);
    }
  });
});

test("without a service's token, or with a wrong one, every call is refused, even public ones", async () => {
  await using rig = await rpcRig(routes);
  const principal = principalHeaders(principalWith("admin"));
  const past = Math.floor(Date.now() / 1_000) - 60;
  const other = newServiceKey().serviceKey;
  const [head, body] = TOKEN.split(".");
  const wrong: Record<string, string | undefined> = {
    missing: undefined,
    empty: "",
    malformed: "wrong",
    unsigned: `${Buffer.from('{"alg":"none","typ":"toolgate-service+jwt"}').toString("base64url")}.${body}.`,
    cut: TOKEN.slice(0, -2),
    "without a signature": `${head}.${body}.`,
    "for another service": serviceToken("gateway", "chat"),
    "of a service that does not exist": serviceToken("gateway", CALLED, { iss: "somebody" }),
    "of another service's key": serviceToken("gateway", CALLED, { serviceKey: testServiceKeys().chat.serviceKey }),
    "of an unknown key": serviceToken("gateway", CALLED, { serviceKey: other }),
    expired: serviceToken("gateway", CALLED, { exp: past }),
    "without end": serviceToken("gateway", CALLED, { exp: undefined }),
    "a principal": principal[PRINCIPAL_HEADER],
  };
  for (const [name, token] of Object.entries(wrong)) {
    const headers = { ...principal, ...(token === undefined ? {} : { [SERVICE_TOKEN_HEADER]: token }) };
    for (const call of Object.values(callsOf(rig.bare)))
      expect([name, await outcome(call(headers))]).toEqual([name, "Unauthenticated"]);
  }
  const right = { ...principal, [SERVICE_TOKEN_HEADER]: TOKEN };
  expect(await outcome(callsOf(rig.bare).admin(right))).toBe("admitted");
  expect(await outcome(callsOf(rig.bare).internal(right))).toBe("PermissionDenied");
});

test("a principal that is not signed by key-auth is refused, not an internal error", async () => {
  await using rig = await rpcRig(routes);
  const { member } = callsOf(transportTo(rig.baseUrl));
  const plain = Buffer.from(JSON.stringify(principalWith("admin"))).toString("base64url");
  const foreign = newSigningKey("test").sign(claimsOf(principalWith("admin")));
  for (const value of ["!", "bnVsbA", "e30", "a.b.c", plain, foreign, "x".repeat(5_000)])
    expect(await outcome(member({ [PRINCIPAL_HEADER]: value }))).toBe("Unauthenticated");
  expect(rig.entries).toEqual([]);
});

test("a handler gets the principal of its call", async () => {
  await using rig = await rpcRig(routes);
  seen.length = 0;
  const principal = { ...principalWith("member"), email: "müller@example.com" };
  await callsOf(transportTo(rig.baseUrl)).member(principalHeaders(principal));
  expect(seen).toEqual([principal]);
});

test("a service with an RPC that declares no access does not start", async () => {
  const open = (router: ConnectRouter) => {
    routes(router);
    router.service(undeclaredService(), {});
  };
  expect(() => assertAccessDeclared(open)).toThrow("test.v1.OpenService/Anything");
  expect(() => localServer(open, recordedLog().log, testAuthentication(CALLED))).toThrow(
    "test.v1.OpenService/Anything",
  );
  await expect(rpcRig(open)).rejects.toThrow("test.v1.OpenService/Anything");
  expect(() => accessOf(undeclaredService().methods[0] as never)).toThrow("declares no access");
  assertAccessDeclared(routes);
});

test("internal RPCs are not callable from outside", () => {
  const names = callableFromOutside(ToolService).map((method) => method.name);
  expect(names).toContain("ListTools");
  expect(names).not.toContain("CheckTools");
});

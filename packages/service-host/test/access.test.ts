import { Code, ConnectError, type ConnectRouter, createClient, type Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { DataSourceService } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { claimsOf, newSigningKey, principalHeaders } from "@toolgate/testbed/principals";
import { testAuthentication, testTransport } from "@toolgate/testbed/transports";
import { describe, expect, test } from "vitest";
import { accessOf, assertAccessDeclared, callableFromOutside, INTERNAL_TOKEN_HEADER } from "../src/access.ts";
import { type MemberRole, PRINCIPAL_HEADER, type Principal, principalOf } from "../src/principal.ts";
import { localTransport, remoteTransport } from "../src/rpc/transport.ts";
import { recordedLog, rpcRig, TOKEN, undeclaredService } from "./rpc-rig.ts";

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
    const transport =
      way === "over gRPC" ? remoteTransport(rig.baseUrl, TOKEN) : testTransport(routes, recordedLog().log);
    const headers: Record<string, string> = role === "none" ? {} : principalHeaders(principalWith(role));
    for (const [level, call] of Object.entries(callsOf(transport))) {
      const refusal = role === "none" ? "Unauthenticated" : "PermissionDenied";
      expect([level, await outcome(call(headers))]).toEqual([level, levels.includes(level) ? "admitted" : refusal]);
    }
  });
});

test("without the internal token, or with a wrong one, every call is refused, even public ones", async () => {
  await using rig = await rpcRig(routes);
  const principal = principalHeaders(principalWith("admin"));
  for (const token of [undefined, "", "wrong", `${TOKEN}x`, TOKEN.slice(1)]) {
    const headers = { ...principal, ...(token === undefined ? {} : { [INTERNAL_TOKEN_HEADER]: token }) };
    for (const call of Object.values(callsOf(rig.bare))) expect(await outcome(call(headers))).toBe("Unauthenticated");
  }
  const right = { ...principal, [INTERNAL_TOKEN_HEADER]: TOKEN };
  expect(await outcome(callsOf(createGrpcTransport({ baseUrl: rig.baseUrl })).admin(right))).toBe("admitted");
});

test("a principal that is not signed by key-auth is refused, not an internal error", async () => {
  await using rig = await rpcRig(routes);
  const { member } = callsOf(remoteTransport(rig.baseUrl, TOKEN));
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
  await callsOf(remoteTransport(rig.baseUrl, TOKEN)).member(principalHeaders(principal));
  expect(seen).toEqual([principal]);
});

test("a service with an RPC that declares no access does not start", async () => {
  const open = (router: ConnectRouter) => {
    routes(router);
    router.service(undeclaredService(), {});
  };
  expect(() => assertAccessDeclared(open)).toThrow("test.v1.OpenService/Anything");
  expect(() => localTransport(open, recordedLog().log, testAuthentication())).toThrow("test.v1.OpenService/Anything");
  await expect(rpcRig(open)).rejects.toThrow("test.v1.OpenService/Anything");
  expect(() => accessOf(undeclaredService().methods[0] as never)).toThrow("declares no access");
  assertAccessDeclared(routes);
});

test("internal RPCs are not callable from outside", () => {
  const names = callableFromOutside(ToolService).map((method) => method.name);
  expect(names).toContain("ListTools");
  expect(names).not.toContain("CheckTools");
});

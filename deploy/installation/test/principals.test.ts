import { createClient, type Transport } from "@connectrpc/connect";
import { SessionService, TokenKind } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { Access } from "@toolgate/gen/toolgate/options/v1/access_pb";
import { changeRole } from "@toolgate/key-auth/operator/roles";
import { accessOf } from "@toolgate/service-host/access";
import { PRINCIPAL_HEADER } from "@toolgate/service-host/principal";
import { remoteTransport } from "@toolgate/service-host/rpc/transport";
import type { ServiceName } from "@toolgate/service-registry/services";
import { claimsOf, newSigningKey } from "@toolgate/testbed/principals";
import { serviceToken } from "@toolgate/testbed/service-identity";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EVERY_RPC, outcomeOf } from "./every-rpc.ts";
import { type RunningToolgate, runToolgate } from "./running-toolgate.ts";

const ROLES: Partial<Record<Access, readonly string[]>> = {
  [Access.MEMBER]: ["member", "manager", "admin"],
  [Access.MANAGER]: ["manager", "admin"],
  [Access.ADMIN]: ["admin"],
};
const MANAGED = EVERY_RPC.filter(([, method]) => ROLES[accessOf(method)]);

let toolgate: RunningToolgate;
const transports = new Map<ServiceName, Transport>();
let jwt: string;
let principal: string;

beforeAll(async () => {
  toolgate = await runToolgate("split");
  for (const [service] of EVERY_RPC) {
    // As the gateway calls it.
    const { gateway: serviceKey = "" } = toolgate.serviceKeys;
    const tokenFor = () => serviceToken("gateway", service, { serviceKey });
    transports.set(service, remoteTransport(toolgate.rpcUrls[service] ?? "", tokenFor));
  }
  const { email, password, workspace } = toolgate.account;
  ({ token: jwt } = await sessions().login({ email, password, tokenKind: TokenKind.JWT }));
  ({ principal } = await sessions().authorize({ token: jwt, workspace }));
});
afterAll(() => toolgate?.[Symbol.asyncDispose]());

const sessions = () => createClient(SessionService, transports.get("key-auth") as Transport);
/** How a call of each management RPC ends. */
const outcomesWith = (text: string) =>
  Promise.all(
    MANAGED.map(([service, method]) =>
      outcomeOf(transports.get(service) as Transport, method, { [PRINCIPAL_HEADER]: text }),
    ),
  );

test("every service takes a principal as key-auth signed it, and refuses any other", async () => {
  const [head = "", body = "", signature] = principal.split(".");
  const claims = JSON.parse(Buffer.from(body, "base64url").toString());
  const { kid } = JSON.parse(Buffer.from(head, "base64url").toString());
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const changed = (change: Record<string, unknown>) => `${head}.${encoded({ ...claims, ...change })}.${signature}`;
  const forged = newSigningKey(kid).sign(claims);
  const refused = {
    none: "",
    plain: encoded({ userId: claims.sub, ...claims }),
    unsigned: `${encoded({ alg: "none", typ: "toolgate-principal+jwt", kid })}.${body}.`,
    "another role": changed({ role: "manager" }),
    "another workspace": changed({ workspaceId: "00000000-0000-4000-8000-000000000000" }),
    "a longer life": changed({ exp: claims.exp + 3_600 }),
    "another key": forged,
    "a key that does not exist": newSigningKey("unknown").sign(claimsOf({ ...claims, userId: claims.sub })),
    "a login's JWT": jwt,
  };
  expect(claims.exp - claims.iat).toBeLessThanOrEqual(60);
  expect(new Set(MANAGED.map(([service]) => service)).size).toBe(5);
  for (const [name, text] of Object.entries(refused))
    expect([name, await outcomesWith(text)]).toEqual([name, MANAGED.map(() => "Unauthenticated")]);
  const { workspace } = toolgate.account;
  const { principal: fresh } = await sessions().authorize({ token: jwt, workspace });
  const outcomes = await outcomesWith(fresh);
  for (const refusal of ["Unauthenticated", "PermissionDenied", "Unavailable"]) expect(outcomes).not.toContain(refusal);
});

test("a principal is not a login", async () => {
  const { workspace } = toolgate.account;
  await expect(sessions().authorize({ token: principal, workspace })).rejects.toThrow("login");
});

test("an RPC admits its roles alone, and a changed role takes effect with the next request", async () => {
  const { email, workspace } = toolgate.account;
  const operator = { pool: toolgate.pool, now: () => new Date() } as Parameters<typeof changeRole>[0];
  for (const role of ["member", "manager", "admin"] as const) {
    await changeRole(operator, { email, workspace, role });
    const { principal: text } = await sessions().authorize({ token: jwt, workspace });
    const outcomes = await outcomesWith(text);
    const isAdmitted = outcomes.map((outcome) => outcome !== "PermissionDenied");
    expect([role, isAdmitted]).toEqual([role, MANAGED.map(([, method]) => ROLES[accessOf(method)]?.includes(role))]);
    expect(outcomes).not.toContain("Unauthenticated");
  }
  const list = () => toolgate.manage("tool_runner.v1.DataSourceService/ListSecrets", {});
  await list();
  await changeRole(operator, { email, workspace, role: "member" });
  await expect(list()).rejects.toThrow(/role/);
  await changeRole(operator, { email, workspace, role: undefined });
  await expect(list()).rejects.toThrow(/workspace/);
});

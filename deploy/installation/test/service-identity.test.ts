import { createClient, type Transport } from "@connectrpc/connect";
import { SessionService, TokenKind } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { Access } from "@toolgate/gen/toolgate/options/v1/access_pb";
import { provision } from "@toolgate/key-auth/operator/provision";
import { setRole } from "@toolgate/key-auth/operator/roles";
import { accessOf, callersOf, rpcName } from "@toolgate/service-host/access";
import { PRINCIPAL_HEADER } from "@toolgate/service-host/principal";
import { serverAddresses } from "@toolgate/service-host/rpc/addresses";
import { remoteTransport } from "@toolgate/service-host/rpc/transport";
import { CALLING_SERVICES, type ServiceName, serviceEntry } from "@toolgate/service-registry/services";
import { claimsOf, newSigningKey } from "@toolgate/testbed/principals";
import { serviceToken } from "@toolgate/testbed/service-identity";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EVERY_RPC, outcomeOf } from "./every-rpc.ts";
import { type RunningToolgate, runToolgate } from "./running-toolgate.ts";

/** For services without an outbox; none reports events yet. */
const WITHOUT_CALLER = ["toolgate.outbound_webhook.v1.EventService/ReportEvents"];
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
    transports.set(
      service,
      remoteTransport(() => serverAddresses(toolgate.rpcUrls[service] ?? ""), tokenFor),
    );
  }
  const { email, password, workspace } = toolgate.account;
  ({ token: jwt } = await sessions().login({ email, password, tokenKind: TokenKind.JWT }));
  ({ principal } = await sessions().authorize({ token: jwt, workspace }));
});
afterAll(() => toolgate?.[Symbol.asyncDispose]());

const sessions = () => createClient(SessionService, transports.get("key-auth") as Transport);
/** How a call of each management RPC ends. */
const outcomesAs = (text: string) =>
  Promise.all(
    MANAGED.map(([service, method]) =>
      outcomeOf(transports.get(service) as Transport, method, { [PRINCIPAL_HEADER]: text }),
    ),
  );

/** How a call of each RPC ends. */
function outcomesWith(token: (called: ServiceName) => string): Promise<[string, string][]> {
  return Promise.all(
    EVERY_RPC.map(async ([service, method]): Promise<[string, string]> => {
      const transport = remoteTransport(
        () => serverAddresses(toolgate.rpcUrls[service] ?? ""),
        () => token(service),
      );
      return [rpcName(method), await outcomeOf(transport, method, { [PRINCIPAL_HEADER]: "none" })];
    }),
  );
}

test("every RPC of every service admits exactly the services that it names", async () => {
  for (const caller of CALLING_SERVICES) {
    const serviceKey = toolgate.serviceKeys[caller] ?? "";
    const outcomes = await outcomesWith((called) => serviceToken(caller, called, { serviceKey }));
    const admitted = outcomes.flatMap(([name, outcome]) => (outcome === "PermissionDenied" ? [] : [name]));
    const declared = EVERY_RPC.filter(([, method]) => callersOf(method).includes(caller));
    expect([caller, admitted]).toEqual([caller, declared.map(([, method]) => rpcName(method))]);
  }
});

test("no RPC admits a service's token for another service, one of another key, or none", async () => {
  const { gateway: serviceKey = "", chat: otherKey = "" } = toolgate.serviceKeys;
  const tokens: Record<string, (called: ServiceName) => string> = {
    none: () => "",
    "for another service": (called) => serviceToken("gateway", called === "chat" ? "key-auth" : "chat", { serviceKey }),
    "of another service's key": (called) => serviceToken("gateway", called, { serviceKey: otherKey }),
    expired: (called) => serviceToken("gateway", called, { serviceKey, exp: Math.floor(Date.now() / 1_000) - 60 }),
  };
  for (const [name, token] of Object.entries(tokens)) {
    const admitted = (await outcomesWith(token)).filter(([, outcome]) => outcome !== "Unauthenticated");
    expect([name, admitted]).toEqual([name, []]);
  }
});

test("the services that an RPC names are peers in the registry, and internal RPCs name some", () => {
  const rpcs = EVERY_RPC.filter(([, method]) => !WITHOUT_CALLER.includes(rpcName(method)));
  for (const [service, method] of rpcs) {
    const callers = callersOf(method);
    expect(callers.length, rpcName(method)).toBeGreaterThan(0);
    for (const caller of callers) expect(serviceEntry(caller).peers, rpcName(method)).toContain(service);
  }
});

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
    expect([name, await outcomesAs(text)]).toEqual([name, MANAGED.map(() => "Unauthenticated")]);
  const { workspace } = toolgate.account;
  const { principal: fresh } = await sessions().authorize({ token: jwt, workspace });
  const outcomes = await outcomesAs(fresh);
  for (const refusal of ["Unauthenticated", "PermissionDenied", "Unavailable"]) expect(outcomes).not.toContain(refusal);
});

test("a principal is not a login", async () => {
  const { workspace } = toolgate.account;
  await expect(sessions().authorize({ token: principal, workspace })).rejects.toThrow("login");
});

test("an RPC admits its roles alone, and a changed role takes effect with the next request", async () => {
  const { email, workspace } = toolgate.account;
  const operator = { pool: toolgate.pool, now: () => new Date() } as Parameters<typeof setRole>[0];
  // A workspace keeps an admin.
  await provision(toolgate.pool, { workspace, email: "other@example.test", password: "a password", role: "admin" });
  for (const role of ["member", "manager", "admin"] as const) {
    await setRole(operator, { email, workspace, role });
    const { principal: text } = await sessions().authorize({ token: jwt, workspace });
    const outcomes = await outcomesAs(text);
    const isAdmitted = outcomes.map((outcome) => outcome !== "PermissionDenied");
    expect([role, isAdmitted]).toEqual([role, MANAGED.map(([, method]) => ROLES[accessOf(method)]?.includes(role))]);
    expect(outcomes).not.toContain("Unauthenticated");
  }
  const list = () => toolgate.manage("tool_runner.v1.DataSourceService/ListSecrets", {});
  await list();
  await setRole(operator, { email, workspace, role: "member" });
  await expect(list()).rejects.toThrow(/role/);
  await setRole(operator, { email, workspace, role: undefined });
  await expect(list()).rejects.toThrow(/login required/);
});

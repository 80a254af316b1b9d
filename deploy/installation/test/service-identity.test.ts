import { callersOf, rpcName } from "@toolgate/service-host/access";
import { PRINCIPAL_HEADER } from "@toolgate/service-host/principal";
import { remoteTransport } from "@toolgate/service-host/rpc/transport";
import { SERVICE_NAMES, type ServiceName, serviceEntry } from "@toolgate/service-registry/services";
import { serviceToken } from "@toolgate/testbed/service-identity";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EVERY_RPC, outcomeOf } from "./every-rpc.ts";
import { type RunningToolgate, runToolgate } from "./running-toolgate.ts";

/** For services without an outbox; none reports events yet. */
const WITHOUT_CALLER = ["toolgate.outbound_webhook.v1.EventService/ReportEvents"];

let toolgate: RunningToolgate;
beforeAll(async () => {
  toolgate = await runToolgate("split");
});
afterAll(() => toolgate?.[Symbol.asyncDispose]());

/** How a call of each RPC ends. */
function outcomesWith(token: (called: ServiceName) => string): Promise<[string, string][]> {
  return Promise.all(
    EVERY_RPC.map(async ([service, method]): Promise<[string, string]> => {
      const transport = remoteTransport(toolgate.rpcUrls[service] ?? "", () => token(service));
      return [rpcName(method), await outcomeOf(transport, method, { [PRINCIPAL_HEADER]: "none" })];
    }),
  );
}

test("every RPC of every service admits exactly the services that it names", async () => {
  for (const caller of SERVICE_NAMES) {
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

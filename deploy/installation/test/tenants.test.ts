import { MANAGED_SERVICES } from "@toolgate/gateway/http/management/management-routes";
import { Access } from "@toolgate/gen/toolgate/options/v1/access_pb";
import { accessOf, callableFromOutside } from "@toolgate/service-host/access";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ATTEMPTS } from "./attempts.ts";
import { MARKER, type Tenants, type Things, twoTenants } from "./tenants-rig.ts";

/** RPCs that create something in the caller's own workspace. Tried last, because other RPCs would find it. */
const makes = (rpc: string) => /\/(Save|Set|Create)/.test(rpc);

let tenants: Tenants;
beforeAll(async () => {
  tenants = await twoTenants();
});
afterAll(() => tenants[Symbol.asyncDispose]());

test("[MGMT] [WMGMT] every RPC that people may call in a workspace is covered here", () => {
  const offered = MANAGED_SERVICES.flatMap(([, service]) =>
    callableFromOutside(service)
      .filter((method) => accessOf(method) !== Access.PUBLIC)
      .map((method) => `${service.typeName.replace("toolgate.", "")}/${method.name}`),
  );
  expect(Object.keys(ATTEMPTS).toSorted()).toEqual(offered.toSorted());
});

test("[MGMT-4] [WMGMT-4] a user who is not a member of a workspace gets 404 from every RPC, and changes nothing", async () => {
  const { first, second } = tenants;
  const before = await tenants.stored();
  for (const [rpc, { request }] of Object.entries(ATTEMPTS)) {
    const response = await second.call(rpc, { ...request(first), workspace: first.workspace });
    expect([rpc, response.status]).toEqual([rpc, 404]);
    expect(shown(response.text, first)).toEqual([]);
  }
  expect(await tenants.stored()).toBe(before);
});

test("[MGMT] [WMGMT] every list shows a workspace its own things and no other's", async () => {
  const { first, second } = tenants;
  const lists = Object.keys(ATTEMPTS).filter((rpc) => /\/(List|Count)/.test(rpc));
  for (const rpc of lists) {
    const filter = {
      ListKeyCalls: { keyId: first.keyId },
      ListToolVersions: { name: MARKER },
      ListAssistantVersions: { name: MARKER },
    };
    const request = filter[rpc.split("/")[1] as keyof typeof filter] ?? {};
    const own = await first.call(rpc, request);
    expect([rpc, own.status, own.text === "{}"]).toEqual([rpc, 200, false]);
    const foreign = await second.call(rpc, request);
    expect([rpc, shown(foreign.text, first)]).toEqual([rpc, []]);
    // A new workspace already has logins in its audit log, its admin, the built-in assistant, and lists the event types.
    if (foreign.status === 200 && !/ListAuditEntries|ListMembers|ListEventTypes|ListAssistants/.test(rpc))
      expect([rpc, foreign.text]).toEqual([rpc, "{}"]);
  }
});

test("[MGMT] [WMGMT] [KEY-19] with the ids and names of another workspace every RPC shows nothing of it, and changes nothing", async () => {
  const { first, second } = tenants;
  const before = await tenants.stored();
  const attempts = Object.entries(ATTEMPTS);
  for (const [rpc, { request, foreign }] of attempts.filter(([rpc]) => !makes(rpc))) {
    const response = await second.call(rpc, request(first));
    expect([rpc, response.status, shown(response.text, first)]).toEqual([rpc, foreign, []]);
  }
  for (const [rpc, { request, foreign }] of attempts.filter(([rpc]) => makes(rpc))) {
    const response = await second.call(rpc, request(first));
    expect([rpc, response.status]).toEqual([rpc, foreign]);
  }
  expect(await tenants.stored()).toBe(before);
});

test("[MGMT] [WMGMT] the same requests work in the workspace that they belong to", async () => {
  const { first } = tenants;
  for (const [rpc, { request }] of Object.entries(ATTEMPTS)) {
    const response = await first.call(rpc, request(first));
    expect([rpc, response.status]).toEqual([rpc, 200]);
  }
});

/** Which data of the first tenant a response shows. */
function shown(text: string, { keyId, eventId, deliveryId, executionId, hookId, hookDeliveryId }: Things): string[] {
  const ids = [keyId, eventId, deliveryId, executionId, hookId, hookDeliveryId];
  const email = /admin-\w+@example\.test/.exec(text) ?? [];
  return [...email, ...[MARKER, ...ids].filter((one) => text.includes(one))];
}

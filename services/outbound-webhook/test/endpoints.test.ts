import { Code } from "@connectrpc/connect";
import { Access } from "@toolgate/gen/toolgate/options/v1/access_pb";
import { DeliveryService } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { EventService } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { ReplayService } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import { UndeliveredService } from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import { accessOf, callableFromOutside } from "@toolgate/service-host/access";
import { refusal } from "@toolgate/testbed/rpc-errors";
import { sign } from "@toolgate/webhook-signing/sign";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { type OutboundRig, startOutboundRig } from "./outbound-rig.ts";

describe("endpoints", () => {
  let rig: OutboundRig;
  beforeAll(async () => {
    rig = await startOutboundRig({ instances: [["manager"]] });
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const create = (request: { url?: string; events?: string[]; description?: string }, workspaceId = "w") =>
    rig.endpoints({ workspaceId }).createEndpoint({ url: `${rig.receiver.url}/x`, events: ["custom.*"], ...request });

  it("[OUT-3] [OUT-4] [OUT-10] a new endpoint has its URL and event types and is active", async () => {
    const { endpoint } = await create({ events: ["tool.completed", "custom.a", "custom.a"], description: "orders" });
    expect(endpoint).toMatchObject({
      url: `${rig.receiver.url}/x`,
      events: ["tool.completed", "custom.a"],
      description: "orders",
      active: true,
      failuresInARow: 0,
    });
  });

  it("[WMGMT-5] ids do not say how many endpoints there are, and the list is in the order of creation", async () => {
    const ids: bigint[] = [];
    for (let made = 0; made < 8; made += 1) ids.push((await create({}, "w-ids")).endpoint?.id ?? 0n);
    const { endpoints } = await rig.endpoints({ workspaceId: "w-ids" }).listEndpoints({});
    expect(endpoints.map((endpoint) => endpoint.id)).toEqual(ids);
    // Eight random numbers below 2^53 are all below 2^40 once in 2^104 times.
    expect(ids.some((id) => id > 2n ** 40n)).toBe(true);
    const distances = ids.slice(1).map((id, at) => id - (ids[at] ?? 0n));
    expect(new Set(distances).size).toBe(distances.length);
  });

  it("[OUT-6] [OUT-7] the secret begins with whsec_ and is shown only at creation", async () => {
    const { endpoint, secret } = await create({}, "w-secret");
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const client = rig.endpoints({ workspaceId: "w-secret" });
    const endpointId = endpoint?.id ?? 0n;
    const responses = [
      await client.listEndpoints({}),
      await client.getEndpoint({ endpointId }),
      await client.updateEndpoint({ endpointId, active: true }),
    ];
    expect(JSON.stringify(responses, withoutBigint)).not.toContain("whsec_");
  });

  it("[OUT] the secret is encrypted at rest", async () => {
    const { endpoint, secret } = await create({}, "w-sealed");
    const { rows } = await rig.pool.query("select secret from outbound_webhook.endpoint where id = $1", [endpoint?.id]);
    expect(rows[0].secret.includes(secret.slice(6))).toBe(false);
  });

  it("[OUT-8] [OUT-9] [WMGMT-7] rotation makes a new secret, and only that one is valid from then on", async () => {
    const { endpoint, secret } = await create({}, "w-rotate");
    const endpointId = endpoint?.id ?? 0n;
    const rotated = await rig.endpoints({ workspaceId: "w-rotate" }).rotateSecret({ endpointId });
    expect(rotated.secret).toMatch(/^whsec_/);
    const body = Buffer.from("{}");
    const isValid = async (key: string) => {
      const headers = sign(key, Math.floor(Date.now() / 1000), body);
      const request = { endpointId, body, headers };
      return (await rig.deliveries({ workspaceId: "w-rotate" }).debugSignature(request)).signatureMatches;
    };
    expect([await isValid(rotated.secret), await isValid(secret)]).toEqual([true, false]);
  });

  it("[OUT-5] [EVT-7] [EVT-18] refuses unknown event types and none at all, in a new endpoint and in an edit", async () => {
    const { endpoint } = await create({}, "w-types");
    const client = rig.endpoints({ workspaceId: "w-types" });
    const endpointId = endpoint?.id ?? 0n;
    const refused = refusal(Code.InvalidArgument, /^events: /);
    const unknown = ["tool.unknown", "chat.message.created", "webhook.test", "custom.", "custom.UPPER", "", "*"];
    for (const events of [[], ...unknown.map((type) => ["tool.completed", type])]) {
      await expect(create({ events }), `${events}`).rejects.toEqual(refused);
      await expect(client.updateEndpoint({ endpointId, events: { types: events } })).rejects.toEqual(refused);
    }
    expect((await client.getEndpoint({ endpointId })).endpoint).toEqual(endpoint);
  });

  it("[OUT] an edit changes only the fields that it sets", async () => {
    const { endpoint } = await create({ description: "before" }, "w-update");
    const client = rig.endpoints({ workspaceId: "w-update" });
    const endpointId = endpoint?.id ?? 0n;
    await client.updateEndpoint({ endpointId, events: { types: ["tool.completed"] } });
    await client.updateEndpoint({ endpointId, description: "" });
    const found = await client.getEndpoint({ endpointId });
    const { savedAt: _, ...unchanged } = endpoint ?? {};
    expect(found.endpoint).toMatchObject({ ...unchanged, events: ["tool.completed"], description: "", version: 3 });
  });

  it("[WMGMT-5] an edit that expects an older version changes nothing, and says who saved the newer one", async () => {
    const { endpoint } = await create({ description: "first" }, "w-version");
    expect(endpoint).toMatchObject({ version: 1, savedBy: "someone@acme.example" });
    const endpointId = endpoint?.id ?? 0n;
    const [ann, bob] = ["ann", "bob"].map((name) =>
      rig.endpoints({ workspaceId: "w-version", email: `${name}@acme.example` }),
    );
    const saved = await ann?.updateEndpoint({ endpointId, description: "ann's", expectedVersion: 1 });
    expect(saved?.endpoint).toMatchObject({ version: 2, savedBy: "ann@acme.example" });
    await expect(
      bob?.updateEndpoint({ endpointId, description: "bob's", active: false, expectedVersion: 1 }),
    ).rejects.toEqual(
      refusal(Code.Aborted, /^ann@acme\.example saved version 2 at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/),
    );
    expect((await bob?.getEndpoint({ endpointId }))?.endpoint).toEqual(saved?.endpoint);
    const over = await bob?.updateEndpoint({ endpointId, description: "bob's" });
    expect(over?.endpoint).toMatchObject({ version: 3, savedBy: "bob@acme.example", description: "bob's" });
  });

  it("[OUT] a workspace has at most 20 endpoints, also when they are created concurrently", async () => {
    const created = await Promise.allSettled(Array.from({ length: 24 }, () => create({}, "w-cap")));
    expect(created.filter((one) => one.status === "fulfilled")).toHaveLength(20);
    expect((await rig.endpoints({ workspaceId: "w-cap" }).listEndpoints({})).endpoints).toHaveLength(20);
  });

  it("[OUT] a deleted endpoint is gone, and so are its secret and its lists", async () => {
    const { endpoint } = await create({ description: "orders" }, "w-delete");
    const client = rig.endpoints({ workspaceId: "w-delete" });
    const endpointId = endpoint?.id ?? 0n;
    await client.deleteEndpoint({ endpointId });
    await expect(client.getEndpoint({ endpointId })).rejects.toEqual(refusal(Code.NotFound, /no such endpoint/));
    await expect(client.deleteEndpoint({ endpointId })).rejects.toEqual(refusal(Code.NotFound, /no such endpoint/));
    const { rows } = await rig.pool.query(
      "select length(secret) as length, events, tools, description from outbound_webhook.endpoint where id = $1",
      [endpointId],
    );
    expect(rows).toEqual([{ length: 0, events: [], tools: [], description: "" }]);
  });
});

test("[WMGMT-2] [WMGMT-3] [WMGMT-4] all that people may call is for managers and admins", () => {
  const services = [DeliveryService, EndpointService, EventService, ReplayService, UndeliveredService];
  for (const method of services.flatMap((service) => callableFromOutside(service)))
    expect([method.name, accessOf(method)]).toEqual([method.name, Access.MANAGER]);
});

function withoutBigint(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

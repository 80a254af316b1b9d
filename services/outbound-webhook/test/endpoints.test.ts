import { Code, ConnectError } from "@connectrpc/connect";
import { createSecretBox } from "@toolgate/secret-box/secret-box";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sealingContext } from "../src/domain/endpoint.ts";
import { type OutboundRig, startOutboundRig } from "./outbound-rig.ts";

const refusal = (code: Code, text: RegExp) =>
  expect.toSatisfy(
    (error: unknown) => error instanceof ConnectError && error.code === code && text.test(error.rawMessage),
    `${Code[code]} ${text}`,
  );

describe("endpoints", () => {
  let rig: OutboundRig;
  beforeAll(async () => {
    rig = await startOutboundRig({ instances: [["manager"]] });
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const create = (request: { url?: string; events?: string[]; description?: string }, workspaceId = "w") =>
    rig.endpoints({ workspaceId }).createEndpoint({ url: `${rig.receiver.url}/x`, events: ["custom.*"], ...request });

  it("[OUT-3] [OUT-4] [OUT-6] [OUT-7] [OUT-10] [WMGMT-5] creates an active endpoint and shows its secret once", async () => {
    const created = await create(
      { events: ["tool.completed", "custom.a", "custom.a"], description: "orders" },
      "w-create",
    );
    expect(created.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(created.endpoint).toMatchObject({
      url: `${rig.receiver.url}/x`,
      events: ["tool.completed", "custom.a"],
      description: "orders",
      active: true,
      failuresInARow: 0,
    });
    const { endpoints } = await rig.endpoints({ workspaceId: "w-create" }).listEndpoints({});
    expect(endpoints).toEqual([created.endpoint]);
    expect(
      JSON.stringify(
        endpoints.map((endpoint) => ({ ...endpoint, id: "" })),
        withoutBigint,
      ),
    ).not.toContain("whsec_");
  });

  it("[OUT] the secret is encrypted at rest", async () => {
    const { endpoint, secret } = await create({}, "w-sealed");
    const { rows } = await rig.pool.query("select secret from outbound_webhook.endpoint where id = $1", [endpoint?.id]);
    expect(rows[0].secret.includes(secret.slice(6))).toBe(false);
  });

  it("[OUT-8] [WMGMT-7] rotation returns a new secret, and it replaces the stored one", async () => {
    const secretBox = createSecretBox({ keys: rig.config.core?.sealingKeys ?? [] });
    const { endpoint, secret } = await create({}, "w-rotate");
    const endpointId = endpoint?.id ?? 0n;
    const storedSecret = async () => {
      const { rows } = await rig.pool.query("select secret from outbound_webhook.endpoint where id = $1", [endpointId]);
      return secretBox.open(rows[0].secret, sealingContext(Number(endpointId)));
    };
    expect(await storedSecret()).toBe(secret);
    const rotated = await rig.endpoints({ workspaceId: "w-rotate" }).rotateSecret({ endpointId });
    expect(rotated.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(rotated.secret).not.toBe(secret);
    expect(await storedSecret()).toBe(rotated.secret);
  });

  it.each([
    ["tool.unknown"],
    ["chat.message.created"],
    ["webhook.test"],
    ["custom."],
    ["custom.UPPER"],
    [`custom.${"a".repeat(61)}`],
    [""],
    ["*"],
  ])("[OUT-5] [EVT-7] [EVT-18] refuses the event type %j, in a new endpoint and in an edit", async (type) => {
    const events = ["tool.completed", type];
    const refused = refusal(Code.InvalidArgument, /^events: /);
    await expect(create({ events })).rejects.toEqual(refused);
    const { endpoint } = await create({}, "w-types");
    const client = rig.endpoints({ workspaceId: "w-types" });
    const endpointId = endpoint?.id ?? 0n;
    await expect(client.updateEndpoint({ endpointId, events: { types: events } })).rejects.toEqual(refused);
    expect((await client.getEndpoint({ endpointId })).endpoint).toEqual(endpoint);
  });

  it("[OUT-5] refuses an endpoint without event types, also in an edit", async () => {
    const refused = refusal(Code.InvalidArgument, /^events: /);
    await expect(create({ events: [] })).rejects.toEqual(refused);
    const { endpoint } = await create({}, "w-types");
    const edit = { endpointId: endpoint?.id ?? 0n, events: { types: [] } };
    await expect(rig.endpoints({ workspaceId: "w-types" }).updateEndpoint(edit)).rejects.toEqual(refused);
  });

  it.each([
    ["http://example.com/", /only https/],
    ["https://user:pw@example.com/", /credentials/],
    ["https://@example.com/", /credentials/],
    ["https://gate.example/hook", /must not point to this service/],
    ["https://GATE.example.:8443/hook", /must not point to this service/],
    ["https://10.0.0.1/", /not allowed/],
    ["https://169.254.169.254/latest/meta-data", /not allowed/],
    ["https://[::ffff:192.168.0.1]/", /not allowed/],
    ["https://2130706433/", /not a valid host/],
    ["https://name.invalid/", /does not resolve/],
    ["https://exa mple.com/", /whitespace/],
    [`https://example.com/${"a".repeat(2048)}`, /2048/],
    ["nonsense", /not a URL/],
  ])("[SSRF-1] [SSRF-2] [SSRF-3] [SSRF-4] refuses the URL %s", async (url, reason) => {
    await expect(create({ url })).rejects.toEqual(refusal(Code.InvalidArgument, reason));
  });

  it("[SSRF-4] checks the URL when it is changed, too", async () => {
    const { endpoint } = await create({}, "w-change");
    const change = { endpointId: endpoint?.id ?? 0n, url: "https://192.168.1.1/" };
    await expect(rig.endpoints({ workspaceId: "w-change" }).updateEndpoint(change)).rejects.toEqual(
      refusal(Code.InvalidArgument, /^url: target address not allowed/),
    );
  });

  it("[OUT] changes only the fields that are given", async () => {
    const { endpoint } = await create({ description: "before" }, "w-update");
    const client = rig.endpoints({ workspaceId: "w-update" });
    const endpointId = endpoint?.id ?? 0n;
    await client.updateEndpoint({ endpointId, events: { types: ["tool.completed"] } });
    await client.updateEndpoint({ endpointId, description: "" });
    const found = await client.getEndpoint({ endpointId });
    expect(found.endpoint).toEqual({ ...endpoint, events: ["tool.completed"], description: "" });
  });

  it("[OUT] a workspace has at most 20 endpoints, also when they are made at once", async () => {
    const made = await Promise.allSettled(Array.from({ length: 24 }, () => create({}, "w-cap")));
    expect(made.filter((one) => one.status === "fulfilled")).toHaveLength(20);
    expect((await rig.endpoints({ workspaceId: "w-cap" }).listEndpoints({})).endpoints).toHaveLength(20);
  });

  it("[OUT] a deleted endpoint is gone, and its secret with it", async () => {
    const { endpoint } = await create({}, "w-delete");
    const client = rig.endpoints({ workspaceId: "w-delete" });
    const endpointId = endpoint?.id ?? 0n;
    await client.deleteEndpoint({ endpointId });
    await expect(client.getEndpoint({ endpointId })).rejects.toEqual(refusal(Code.NotFound, /no such endpoint/));
    await expect(client.deleteEndpoint({ endpointId })).rejects.toEqual(refusal(Code.NotFound, /no such endpoint/));
    const { rows } = await rig.pool.query(
      "select length(secret) as length from outbound_webhook.endpoint where id = $1",
      [endpointId],
    );
    expect(rows).toEqual([{ length: 0 }]);
  });

  it("[WMGMT] ids of another workspace answer not_found, on every RPC", async () => {
    const { endpoint } = await create({}, "w-owner");
    const endpointId = endpoint?.id ?? 0n;
    const stranger = rig.endpoints({ workspaceId: "w-stranger" });
    const calls = [
      () => stranger.getEndpoint({ endpointId }),
      () => stranger.updateEndpoint({ endpointId, active: false }),
      () => stranger.deleteEndpoint({ endpointId }),
      () => stranger.rotateSecret({ endpointId }),
      () => stranger.sendTestEvent({ endpointId }),
    ];
    for (const call of calls) await expect(call()).rejects.toEqual(refusal(Code.NotFound, /no such endpoint/));
    expect((await stranger.listEndpoints({})).endpoints).toEqual([]);
    const owned = await rig.endpoints({ workspaceId: "w-owner" }).getEndpoint({ endpointId });
    expect(owned.endpoint).toEqual(endpoint);
  });

  it("[WMGMT-2] [WMGMT-3] [WMGMT-4] managers and admins have access, members have not", async () => {
    const list = (role: "member" | "manager" | "admin") =>
      rig.endpoints({ workspaceId: "w-role", role }).listEndpoints({});
    await expect(list("manager")).resolves.toBeDefined();
    await expect(list("admin")).resolves.toBeDefined();
    await expect(list("member")).rejects.toEqual(refusal(Code.PermissionDenied, /role/));
  });
});

function withoutBigint(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

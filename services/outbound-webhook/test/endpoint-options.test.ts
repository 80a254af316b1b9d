import { Code } from "@connectrpc/connect";
import { toolCompleted } from "@toolgate/event-schemas/types/tool-completed";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newEvent, type OutboundRig, startOutboundRig } from "./outbound-rig.ts";

describe("what an endpoint may choose", () => {
  let rig: OutboundRig;
  beforeAll(async () => {
    rig = await startOutboundRig();
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const create = async (workspaceId: string, path: string, options: object) => {
    const request = { url: `${rig.receiver.url}${path}`, events: ["custom.*"], ...options };
    const { endpoint } = await rig.endpoints({ workspaceId }).createEndpoint(request);
    return endpoint?.id ?? 0n;
  };
  const received = (path: string, count: number) =>
    eventually(() => rig.requestsTo(path).length >= count && rig.requestsTo(path));
  const completed = (workspaceId: string, tool: string) =>
    newEvent({ workspaceId, type: "tool.completed", dataJson: JSON.stringify({ tool }) }, rig.clock.now());
  const marker = (workspaceId: string) => newEvent({ workspaceId }, rig.clock.now());
  /** Tools of the completions that came, and the types of all else, in the order of their names. */
  const kinds = (path: string) =>
    rig
      .requestsTo(path)
      .map(({ body }) => JSON.parse(body.toString()))
      .map(({ type, data }) => data.tool ?? type)
      .toSorted();

  it("[EVT-8] an endpoint gets tool.completed only of the tools that it names, and all other types as before", async () => {
    const events = ["tool.completed", "custom.*"];
    const endpointId = await create("w-tools", "/tools", { events, tools: ["wanted", "wanted"] });
    const sent = [completed("w-tools", "other"), completed("w-tools", "wanted"), marker("w-tools")];
    await rig.reportMany(sent);
    await received("/tools", 2);
    const client = rig.endpoints({ workspaceId: "w-tools" });
    const { endpoint } = await client.updateEndpoint({ endpointId, tools: { names: [] } });
    expect(endpoint?.tools).toEqual([]);
    await rig.reportMany([completed("w-tools", "third")]);
    await received("/tools", 3);
    expect(kinds("/tools")).toEqual(["custom.thing", "third", "wanted"]);
    await expect(client.updateEndpoint({ endpointId, tools: { names: ["no tool"] } })).rejects.toMatchObject({
      code: Code.InvalidArgument,
    });
  });

  it("[EVT-18] a sample of any type can be sent as a test, also of one that the endpoint does not get", async () => {
    const endpointId = await create("w-samples", "/samples", {});
    const client = rig.endpoints({ workspaceId: "w-samples" });
    for (const type of ["", "tool.completed", "custom.order.paid"]) await client.sendTestEvent({ endpointId, type });
    const requests = await received("/samples", 3);
    const bodies = requests.map(({ body }) => JSON.parse(body.toString()));
    expect(bodies.map(({ type }) => type).toSorted()).toEqual(["custom.order.paid", "tool.completed", "webhook.test"]);
    expect(bodies.find(({ type }) => type === "tool.completed")?.data).toEqual(toolCompleted.example);
    expect(requests.map(({ headers }) => headers["x-service-event"]).toSorted()).toEqual(
      bodies.map(({ type }) => type).toSorted(),
    );
    for (const type of ["tool.unknown", "custom", "custom.", "custom.UPPER"]) {
      await expect(client.sendTestEvent({ endpointId, type }), type).rejects.toMatchObject({
        code: Code.InvalidArgument,
      });
    }
  });

  it("[OUT-18] custom headers are on every delivery and test, sealed at rest, and only their names are shown", async () => {
    const values = { "X-Api-Key": "the-key-of-the-receiver", Authorization: "Bearer of-the-receiver" };
    const endpointId = await create("w-headers", "/headers", { headers: { values } });
    const client = rig.endpoints({ workspaceId: "w-headers" });
    await rig.report({ workspaceId: "w-headers" });
    await client.sendTestEvent({ endpointId });
    for (const { headers } of await received("/headers", 2)) {
      expect(headers).toMatchObject({
        "x-api-key": values["X-Api-Key"],
        authorization: values.Authorization,
        "content-type": "application/json",
      });
      expect(headers["x-service-signature"]).toMatch(/^t=/);
    }
    const { endpoint } = await client.getEndpoint({ endpointId });
    expect(endpoint?.headerNames).toEqual(["x-api-key", "authorization"]);
    const { rows } = await rig.pool.query(
      "select e::text as row, sealed_headers as sealed from outbound_webhook.endpoint e where id = $1",
      [endpointId],
    );
    expect(rows[0].sealed.length).toBeGreaterThan(values["X-Api-Key"].length);
    expect(`${rows[0].row}${rows[0].sealed}`).not.toContain("of-the-receiver");
    await client.updateEndpoint({ endpointId, headers: { values: {} } });
    await client.sendTestEvent({ endpointId });
    const [, , last] = await received("/headers", 3);
    expect(last?.headers["x-api-key"]).toBeUndefined();
    const wrong = client.updateEndpoint({ endpointId, headers: { values: { "X-Service-Hop": "9" } } });
    await expect(wrong).rejects.toMatchObject({ code: Code.InvalidArgument });
  });
});

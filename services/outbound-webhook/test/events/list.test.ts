import { Code } from "@connectrpc/connect";
import { displayName, EVENT_TYPES, schemaPath } from "@toolgate/event-schemas/catalogue";
import type { MemberRole } from "@toolgate/service-host/principal";
import { principalHeaders } from "@toolgate/testbed/principals";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ALL_TYPES, type EventRig, startEventRig } from "./event-rig.ts";

describe("ListEventTypes", () => {
  let rig: EventRig;
  beforeAll(async () => {
    rig = await startEventRig();
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const list = (role: MemberRole) => {
    const principal = { userId: "u", email: "u@acme.example", workspaceId: "w", workspace: "acme", role };
    return rig.events.listEventTypes({}, { headers: principalHeaders(principal) });
  };

  it("[EVT-7] managers see every type, its schema, and whether any service sends it yet", async () => {
    const { eventTypes } = await list("manager");
    expect(eventTypes.map((shown) => [shown.type, shown.schemaPath, shown.description, shown.hasSource])).toEqual(
      EVENT_TYPES.map((kind) => [displayName(kind), schemaPath(kind), kind.sent, kind.hasSource]),
    );
    const sent = eventTypes.filter(({ hasSource }) => hasSource).map(({ type }) => type);
    expect(sent).toEqual(expect.arrayContaining(["tool.completed", "custom.<name>", "webhook.test"]));
  });

  it("[EVT-7] [EVT-18] all types except the test event can be subscribed to, even if nothing sends them yet", async () => {
    const { eventTypes } = await list("admin");
    const offered = eventTypes.filter(({ subscribable }) => subscribable).map(({ type }) => type);
    expect(offered).toEqual(EVENT_TYPES.map(displayName).filter((type) => type !== "webhook.test"));
    await rig.rig.register("w-all", "/all", ALL_TYPES);
    for (const type of ["webhook.test", "custom", "custom.<name>", "custom."]) {
      await expect(rig.rig.register("w-all", "/all", [type])).rejects.toMatchObject({ code: Code.InvalidArgument });
    }
  });
});

import { Code } from "@connectrpc/connect";
import { EVENT_TYPES, schemaPath } from "@toolgate/event-schemas/catalogue";
import { encodePrincipal, type MemberRole, PRINCIPAL_HEADER } from "@toolgate/service-host/principal";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ALL_TYPES, type EventRig, startEventRig } from "./event-rig.ts";

describe("the catalogue", () => {
  let rig: EventRig;
  beforeAll(async () => {
    rig = await startEventRig();
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const list = (role: MemberRole) => {
    const principal = { userId: "u", email: "u@acme.example", workspaceId: "w", workspace: "acme", role };
    return rig.events.listEventTypes({}, { headers: { [PRINCIPAL_HEADER]: encodePrincipal(principal) } });
  };

  it("[EVT-7] [EVT] managers see every type, its schema, and whether anything here sends it yet", async () => {
    const { eventTypes } = await list("manager");
    expect(eventTypes.map(({ type, schemaPath: path, description }) => [type, path, description])).toEqual(
      EVENT_TYPES.map((kind) => [kind.type === "custom" ? "custom.<name>" : kind.type, schemaPath(kind), kind.sent]),
    );
    const sent = eventTypes.filter(({ hasSource }) => hasSource).map(({ type }) => type);
    expect(sent.sort()).toEqual(["custom.<name>", "tool.completed", "webhook.test"]);
  });

  it("[EVT-7] [EVT-18] all but the test event can be subscribed to, also those that nothing sends yet", async () => {
    const { eventTypes } = await list("admin");
    const offered = eventTypes.filter(({ subscribable }) => subscribable).map(({ type }) => type);
    expect(offered.map((type) => (type === "custom.<name>" ? "custom.*" : type)).sort()).toEqual([...ALL_TYPES].sort());
    await rig.rig.register("w-all", "/all", ALL_TYPES);
    for (const type of ["webhook.test", "custom", "custom.<name>", "custom."]) {
      await expect(rig.rig.register("w-all", "/all", [type])).rejects.toMatchObject({ code: Code.InvalidArgument });
    }
  });

  it("[WMGMT-4] members do not see it", async () => {
    await expect(list("member")).rejects.toMatchObject({ code: Code.PermissionDenied });
  });
});

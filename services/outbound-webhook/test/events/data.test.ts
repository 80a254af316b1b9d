import { Code } from "@connectrpc/connect";
import { displayName, EVENT_TYPES, schemaPath } from "@toolgate/event-schemas/catalogue";
import { principalHeaders } from "@toolgate/testbed/principals";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type EventRig, exampleOf, type Reported, schemaErrors, startEventRig } from "./event-rig.ts";

describe("the data of a reported event", () => {
  let rig: EventRig;
  beforeAll(async () => {
    rig = await startEventRig();
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  /** What the receiver gets for a report, checked against the published schemas. */
  async function received(event: Reported) {
    const workspaceId = await rig.subscriber();
    const ids = await rig.report(workspaceId, event);
    const bodies = await rig.bodies(workspaceId, ids.length);
    expect(bodies.map((body) => [body.type, schemaErrors(body)])).toEqual(bodies.map((body) => [body.type, null]));
    expect(bodies.map(({ id }) => id).sort()).toEqual([...ids].sort());
    for (const envelope of bodies)
      expect(envelope).toMatchObject({
        api_version: "2026-11-01",
        created: "2026-11-18T11:06:40Z",
        workspace: "acme-code",
      });
    return bodies.map(({ type, data }) => ({ type, data }));
  }

  it.each(EVENT_TYPES.flatMap(({ type, report, example }) => (report ? [{ type, report, example }] : [])))(
    "[EVT-6] [EVT-11] [EVT-12] [EVT-13] [EVT-15] [EVT-16] [EVT-44] [EVT-47] [EVT-48] [EVT-51] the example report of $type arrives as its example event",
    async ({ type, report, example }) => {
      expect(await received(report.example)).toContainEqual({ type, data: example });
    },
  );

  it("[EVT-9] [EVT-10] [EVT-33] [EVT-34] [EVT-35] [EVT-37] [EVT-38] [EVT-43] a thread's first message is sent as a new thread and as a message", async () => {
    const [message, thread, ...others] = await received(exampleOf("inboxMessageReceived"));
    expect(message).toMatchObject({ type: "inbox.message.received", data: { thread: { is_new: true } } });
    expect(thread).toMatchObject({ type: "inbox.thread.created", data: { first_message: message?.data.message } });
    expect(others).toEqual([]);
  });

  it("[EVT-37] [EVT-39] a later message is only inbox.message.received, and its subject may be null", async () => {
    const later = exampleOf("inboxMessageReceived", ({ thread, message }) => {
      Object.assign(thread, { isNew: false });
      Object.assign(message, { subject: undefined });
    });
    expect(await received(later)).toMatchObject([
      { type: "inbox.message.received", data: { thread: { is_new: false }, message: { subject: null } } },
    ]);
  });

  it("[EVT-48] the error of a scheduled task is sent without its stack", async () => {
    const error = "no response\n    at run (t.js:3:7)";
    const failed = exampleOf("scheduledTaskFailed", (message) => Object.assign(message, { error }));
    expect(await received(failed)).toMatchObject([{ data: { error: "no response" } }]);
  });

  it("[EVT-14] [EVT-31] [EVT-32] a public call is sent redacted", async () => {
    const call = exampleOf("publicToolSubmitted", (message) =>
      Object.assign(message, {
        webhookEvent: true,
        argsJson: '{"email":"ada@example.com","user":{"Password":"x","_client":1},"_api_key":{"id":1}}',
        resultJson: '{"success":true,"access_token":"t","tokens":3}',
      }),
    );
    const args = { email: "ada@example.com", user: { Password: "[entfernt]" } };
    const result = { success: true, access_token: "[entfernt]", tokens: 3 };
    expect(await received(call)).toMatchObject([{ type: "public_tool.submitted", data: { args, result } }]);
  });

  it("[EVT-15] [EVT-51] an account that the workspace itself connected has no ref", async () => {
    const connected = exampleOf("socialConnected", (message) => Object.assign(message, { ref: undefined }));
    expect(await received(connected)).toMatchObject([{ type: "social.connected", data: { ref: null } }]);
  });

  it("[EVT-18] [EVT-60] a test event conforms to its published schema", async () => {
    const workspaceId = "test-event";
    const { id } = await rig.rig.register(workspaceId, `/${workspaceId}`, ["social.revoked"]);
    await rig.rig.endpoints({ workspaceId, email: "ada@example.com" }).sendTestEvent({ endpointId: id });
    const [body] = await rig.bodies(workspaceId, 1);
    expect(schemaErrors(body ?? {})).toBeNull();
    expect(body?.data).toEqual({
      message: expect.any(String),
      endpoint_id: Number(id),
      triggered_by: "ada@example.com",
    });
  });

  it("[EVT-7] [EVT-18] managers see every type, its schema, and whether any service sends it yet; only the test event cannot be subscribed to", async () => {
    const role = "manager";
    const principal = { userId: "u", email: "u@acme.example", workspaceId: "w", workspace: "acme", role } as const;
    const { eventTypes } = await rig.events.listEventTypes({}, { headers: principalHeaders(principal) });
    expect(eventTypes.map((shown) => [shown.type, shown.schemaPath, shown.description, shown.hasSource])).toEqual(
      EVENT_TYPES.map((kind) => [displayName(kind), schemaPath(kind), kind.sent, kind.hasSource]),
    );
    const offered = eventTypes.filter(({ subscribable }) => subscribable).map(({ type }) => type);
    expect(offered).toEqual(EVENT_TYPES.map(displayName).filter((type) => type !== "webhook.test"));
    await expect(rig.rig.register("w-none", "/none", ["webhook.test"])).rejects.toMatchObject({
      code: Code.InvalidArgument,
    });
  });
});

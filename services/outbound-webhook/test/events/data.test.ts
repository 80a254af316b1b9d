import { EVENT_TYPES } from "@toolgate/event-schemas/catalogue";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { changed, type EventRig, REPORTS, type Reported, schemaErrors, startEventRig } from "./event-rig.ts";

const FIRST_MESSAGE = {
  id: "msg-1",
  channel: "email",
  subject: "Where is it?",
  from: { name: "Ada", address: "ada@example.com" },
  text: "Hello,\n\nwhere is A-1001?",
  received_at: "2026-11-18T12:06:40+01:00",
  attachments: [{ filename: "invoice.pdf", mimetype: "application/pdf", size: 48_211 }],
};

const THREAD = { chat_id: "email:ada@example.com:7731", channel: "email" };

/** What a report is sent as, in the order of the types. */
const EXPECTED: readonly [title: string, report: keyof typeof REPORTS, ...events: { type: string; data: object }[]][] =
  [
    [
      "[EVT-9] [EVT-10] [EVT-33] [EVT-34] [EVT-35] [EVT-37] [EVT-38] [EVT-43] a thread's first message is sent as a new thread and as a message",
      "firstMessage",
      { type: "inbox.message.received", data: { thread: { ...THREAD, is_new: true }, message: FIRST_MESSAGE } },
      { type: "inbox.thread.created", data: { thread: { ...THREAD, status: "open" }, first_message: FIRST_MESSAGE } },
    ],
    [
      "[EVT-10] [EVT-37] [EVT-39] a later message is only inbox.message.received, and its subject may be null",
      "laterMessage",
      {
        type: "inbox.message.received",
        data: {
          thread: { chat_id: "whatsapp:+4930123456", channel: "whatsapp", is_new: false },
          message: {
            id: "msg-2",
            channel: "whatsapp",
            subject: null,
            from: { name: "", address: "+4930123456" },
            text: "Thanks <3",
            received_at: "2026-11-18T11:06:40.120+00:00",
            attachments: [],
          },
        },
      },
    ],
    [
      "[EVT-11] [EVT-44] [EVT-47] a customer's reply that opens a thread again is a change of status",
      "statusChanged",
      {
        type: "inbox.thread.status_changed",
        data: { ...THREAD, previous_status: "waiting", status: "open", source: "customer_reply" },
      },
    ],
    [
      "[EVT-12] [EVT-48] a scheduled task that succeeded",
      "taskCompleted",
      {
        type: "scheduled_task.completed",
        data: { task: "Nightly report", tool: "stock_report", success: true, error: null, duration_ms: 1840 },
      },
    ],
    [
      "[EVT-13] [EVT-48] a scheduled task that failed, without the stack of its error",
      "taskFailed",
      {
        type: "scheduled_task.failed",
        data: {
          task: "Nightly report",
          tool: "stock_report",
          success: false,
          error: "no response",
          duration_ms: 30_012,
        },
      },
    ],
    [
      "[EVT-14] [EVT-31] [EVT-32] [EVT-49] [EVT-50] a public call is sent with a shortened address, and redacted",
      "publicTool",
      {
        type: "public_tool.submitted",
        data: {
          tool: "contact_form",
          success: true,
          origin: "https://shop.example.com",
          ip_prefix: "203.0.113.0",
          args: { email: "ada@example.com", user: { Password: "[entfernt]" } },
          result: { success: true, access_token: "[entfernt]", tokens: 3 },
        },
      },
    ],
    [
      "[EVT-16] [EVT-51] [EVT-52] a connection that ended is sent with the partner's user and the reason",
      "revoked",
      {
        type: "social.revoked",
        data: {
          ref: "partner-user-17",
          account: { id: "8812004", name: "Ada Example" },
          connected_at: "2026-10-02T11:40:05Z",
          reason: "data_deletion",
        },
      },
    ],
  ];

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
    for (const { id, ...envelope } of bodies) {
      expect(id).toMatch(/^evt_[0-9a-f]{32}$/);
      expect(envelope).toMatchObject({
        api_version: "2026-11-01",
        created: "2026-11-18T11:06:40Z",
        workspace: "acme-code",
      });
    }
    return bodies.map(({ type, data }) => ({ type, data }));
  }

  it("[EVT-6] every type's example report arrives as its example event", async () => {
    for (const { type, report, example } of EVENT_TYPES) {
      if (report) expect(await received(report.example)).toContainEqual({ type, data: example });
    }
  });

  it.each(EXPECTED)("%s", async (_title, report, ...events) => {
    expect(await received(REPORTS[report])).toEqual(events);
  });

  it.each([
    ["the workspace itself", undefined, null],
    ["a partner's user", "partner-user-4", "partner-user-4"],
  ])("[EVT-15] [EVT-51] an account connected by %s is sent with ref %s", async (_who, ref, expected) => {
    const connected = changed("connected", (report) => void Object.assign(report, { ref }));
    expect(await received(connected)).toEqual([
      {
        type: "social.connected",
        data: {
          ref: expected,
          account: { id: "8812004", name: "Ada Example" },
          connected_at: "2026-10-02T11:40:05Z",
        },
      },
    ]);
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
});

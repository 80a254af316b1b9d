import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type EventRig, faultsOf, HAPPENINGS, type Happened, startEventRig } from "./event-rig.ts";

const FIRST_MESSAGE = {
  id: "msg-1",
  channel: "email",
  subject: "Where is it?",
  from: { name: "Ada", address: "ada@example.com" },
  text: "Hello,\n\nwhere is A-1001?",
  received_at: "2026-11-18T12:06:40+01:00",
  attachments: [{ filename: "invoice.pdf", mimetype: "application/pdf", size: 48_211 }],
};

describe("an event that is reported through the entrance", () => {
  let rig: EventRig;
  beforeAll(async () => {
    rig = await startEventRig();
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  /** What arrives for one report, checked against the published schemas. */
  async function arriving(name: keyof typeof HAPPENINGS, count = 1) {
    const workspaceId = await rig.subscriber();
    const ids = await rig.report(workspaceId, HAPPENINGS[name] as Happened);
    const bodies = await rig.bodies(workspaceId, count);
    expect(bodies.map((body) => [body.type, faultsOf(body)])).toEqual(bodies.map((body) => [body.type, null]));
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

  it("[EVT-9] [EVT-10] [EVT-33] [EVT-34] [EVT-35] [EVT-38] [EVT-43] a thread's first message is both inbox events", async () => {
    expect(await arriving("firstMessage", 2)).toEqual([
      {
        type: "inbox.message.received",
        data: {
          thread: { chat_id: "email:ada@example.com:7731", channel: "email", is_new: true },
          message: FIRST_MESSAGE,
        },
      },
      {
        type: "inbox.thread.created",
        data: {
          thread: { chat_id: "email:ada@example.com:7731", channel: "email", status: "open" },
          first_message: FIRST_MESSAGE,
        },
      },
    ]);
  });

  it("[EVT-10] [EVT-37] [EVT-39] a later message is inbox.message.received alone, its subject may be null", async () => {
    expect(await arriving("laterMessage")).toEqual([
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
    ]);
  });

  it("[EVT-11] [EVT-44] [EVT-45] [EVT-46] [EVT-47] a change of status", async () => {
    expect(await arriving("statusChanged")).toEqual([
      {
        type: "inbox.thread.status_changed",
        data: {
          chat_id: "email:ada@example.com:7731",
          channel: "email",
          previous_status: "waiting",
          status: "open",
          source: "customer_reply",
        },
      },
    ]);
  });

  it("[EVT-12] [EVT-48] a scheduled task that succeeded", async () => {
    expect(await arriving("taskCompleted")).toEqual([
      {
        type: "scheduled_task.completed",
        data: { task: "Nightly report", tool: "stock_report", success: true, error: null, duration_ms: 1840 },
      },
    ]);
  });

  it("[EVT-13] [EVT-48] a scheduled task that failed, without the stack of its error", async () => {
    expect(await arriving("taskFailed")).toEqual([
      {
        type: "scheduled_task.failed",
        data: { task: "Nightly report", tool: "stock_report", success: false, error: "no answer", duration_ms: 30_012 },
      },
    ]);
  });

  it("[EVT-14] [EVT-49] [EVT-50] [EVT-31] [EVT-32] a call through the public tool API, its address short and its values redacted", async () => {
    expect(await arriving("publicTool")).toEqual([
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
    ]);
  });

  it("[EVT-15] [EVT-51] an account that was connected by the workspace itself has ref null", async () => {
    expect(await arriving("connected")).toEqual([
      {
        type: "social.connected",
        data: {
          ref: null,
          account: { id: "8812004", name: "Ada Example" },
          connected_at: "2026-10-02T11:40:05Z",
        },
      },
    ]);
  });

  it("[EVT-16] [EVT-51] [EVT-52] a connection that is gone, with its partner's user and the reason", async () => {
    expect(await arriving("revoked")).toEqual([
      {
        type: "social.revoked",
        data: {
          ref: "partner-user-17",
          account: { id: "8812004", name: "Ada Example" },
          connected_at: "2026-10-02T11:40:05Z",
          reason: "data_deletion",
        },
      },
    ]);
  });

  it("[EVT-18] [EVT-60] a test event has the shape that is published", async () => {
    const workspaceId = "test-event";
    const { id } = await rig.rig.register(workspaceId, `/${workspaceId}`, ["social.revoked"]);
    await rig.rig.endpoints({ workspaceId, email: "ada@example.com" }).sendTestEvent({ endpointId: id });
    const [body] = await rig.bodies(workspaceId, 1);
    expect(faultsOf(body ?? {})).toBeNull();
    expect(body?.data).toEqual({
      message: expect.any(String),
      endpoint_id: Number(id),
      triggered_by: "ada@example.com",
    });
  });
});

import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Body, changed, type EventRig, newReport, REPORTS, type ReportInit, startEventRig } from "./event-rig.ts";

type Kind = keyof typeof REPORTS;

const INVALID_REPORTS: [field: string, change: Partial<ReportInit>][] = [
  ["workspace_id", { workspaceId: "" }],
  ["workspace", { workspace: "a\0b" }],
  ["source_id", { sourceId: "" }],
  ["source_id", { sourceId: "x".repeat(201) }],
  ["occurred_at", { occurredAt: undefined }],
  ["occurred_at", { occurredAt: { seconds: -1n } }],
  ["hop", { hop: 0 }],
  ["hop", { hop: 3 }],
  ["event", { event: { case: undefined } }],
];

/** One of each type, and what no schema says. `reported-events.test.ts` proves that all else conforms to the schemas. */
const INVALID_MESSAGES: [field: string, kind: Kind, change: Body][] = [
  ["inbox_message_received.thread", "firstMessage", { thread: undefined }],
  ["inbox_thread_status_changed.chat_id", "statusChanged", { chatId: "whatsapp:ada@example.com" }],
  ["inbox_thread_status_changed.channel", "statusChanged", { channel: "E-Mail" }],
  ["inbox_thread_status_changed.status", "statusChanged", { status: 5 }],
  ["inbox_thread_status_changed.source", "statusChanged", { previousStatus: 1, status: 4, source: 3 }],
  ["scheduled_task_completed.task", "taskCompleted", { task: "" }],
  ["scheduled_task_failed.tool", "taskFailed", { tool: "" }],
  ["public_tool_submitted.tool", "publicTool", { tool: "" }],
  ["public_tool_submitted.origin", "publicTool", { origin: "javascript:alert(1)" }],
  ["public_tool_submitted.ip", "publicTool", { ip: "203.0.113.7, 10.0.0.1" }],
  ["public_tool_submitted.args_json", "publicTool", { argsJson: "[1]" }],
  ["public_tool_submitted.result_json", "publicTool", { resultJson: "{" }],
  ["social_connected.account", "connected", { account: undefined }],
  ["social_revoked.reason", "revoked", { reason: 0 }],
];

const INVALID_INBOX_MESSAGES: [field: string, change: (message: Body) => void][] = [
  ["thread.status", ({ thread }) => Object.assign(thread, { status: 0 })],
  ["thread.chat_id", ({ thread }) => Object.assign(thread, { chatId: "sms:+49" })],
  ["message.id", ({ message }) => Object.assign(message, { id: "" })],
  ["message.from", ({ message }) => Object.assign(message, { from: undefined })],
  ["message.from.address", ({ message }) => Object.assign(message.from, { address: "" })],
  ["message.received_at", ({ message }) => Object.assign(message, { receivedAt: "2026-11-18T12:06:40" })],
];

describe("an invalid report", () => {
  let rig: EventRig;
  beforeAll(async () => {
    rig = await startEventRig();
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const good = (name: string) => newReport("w", REPORTS.taskCompleted, name);

  /** The error for a batch with this report in second place. */
  async function errorFor(report: ReportInit): Promise<string> {
    const reports = [good("before"), report, good("after")];
    const response = await rig.events.reportEvents({ reports }).catch((error: unknown) => error);
    expect(response).toBeInstanceOf(ConnectError);
    expect((response as ConnectError).code).toBe(Code.InvalidArgument);
    return (response as ConnectError).rawMessage;
  }

  it.each(INVALID_REPORTS)("[EVT] is refused, naming %s", async (field, change) => {
    const report = { ...good("bad"), ...change } as ReportInit;
    expect(await errorFor(report)).toMatch(new RegExp(`^reports\\[1\\]\\.${field}: `));
  });

  it.each(INVALID_MESSAGES)("[EVT] is refused, naming %s (%s)", async (field, kind, change) => {
    const reported = changed(kind, (message) => void Object.assign(message, change));
    expect(await errorFor(newReport("w", reported, "bad"))).toMatch(new RegExp(`^reports\\[1\\]\\.${field}: `));
  });

  it.each(INVALID_INBOX_MESSAGES)(
    "[EVT-34] [EVT-42] is refused, naming inbox_message_received.%s",
    async (field, change) => {
      const reported = changed("firstMessage", change);
      const error = await errorFor(newReport("w", reported, "bad"));
      expect(error.startsWith(`reports[1].inbox_message_received.${field}: `), error).toBe(true);
    },
  );

  it("[EVT] nothing of its batch is stored, and test mode does not change that", async () => {
    expect(await errorFor({ ...good("bad"), hop: 0, testMode: true })).toMatch("hop");
    const { rows } = await rig.rig.pool.query("select count(*)::int as count from outbound_webhook.event");
    expect(rows).toEqual([{ count: 0 }]);
  });

  it("[EVT] a batch has 1 to 200 reports", async () => {
    for (const reports of [[], Array.from({ length: 201 }, (_, index) => good(String(index)))]) {
      await expect(rig.events.reportEvents({ reports })).rejects.toMatchObject({ code: Code.InvalidArgument });
    }
    const most = Array.from({ length: 200 }, (_, index) => newReport("full", REPORTS.firstMessage, `${index}`));
    const { answers } = await rig.events.reportEvents({ reports: most });
    expect(new Set(answers.flatMap(({ eventIds }) => eventIds)).size).toBe(400);
  });
});

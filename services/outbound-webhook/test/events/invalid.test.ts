import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Body,
  type EventRig,
  exampleOf,
  newReport,
  type Reported,
  type ReportInit,
  startEventRig,
} from "./event-rig.ts";

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

type Change = (message: Body) => void;
const set =
  (change: Body): Change =>
  (message) =>
    Object.assign(message, change);

/** One of each type, and what no schema says. `reported-events.test.ts` proves that all else conforms to the schemas. */
const INVALID_MESSAGES: [field: string, kind: NonNullable<Reported["case"]>, change: Change][] = [
  ["thread", "inboxMessageReceived", set({ thread: undefined })],
  ["thread.status", "inboxMessageReceived", ({ thread }) => Object.assign(thread, { status: 0 })],
  ["thread.chat_id", "inboxMessageReceived", ({ thread }) => Object.assign(thread, { chatId: "sms:+49" })],
  ["message.from.address", "inboxMessageReceived", ({ message }) => Object.assign(message.from, { address: "" })],
  ["message.received_at", "inboxMessageReceived", ({ message }) => Object.assign(message, { receivedAt: "12:06" })],
  ["chat_id", "inboxThreadStatusChanged", set({ chatId: "whatsapp:ada@example.com" })],
  ["channel", "inboxThreadStatusChanged", set({ channel: "E-Mail" })],
  ["source", "inboxThreadStatusChanged", set({ previousStatus: 1, status: 4, source: 3 })],
  ["task", "scheduledTaskCompleted", set({ task: "" })],
  ["tool", "scheduledTaskFailed", set({ tool: "" })],
  ["origin", "publicToolSubmitted", set({ origin: "javascript:alert(1)" })],
  ["ip", "publicToolSubmitted", set({ ip: "203.0.113.7, 10.0.0.1" })],
  ["args_json", "publicToolSubmitted", set({ webhookEvent: true, argsJson: "[1]" })],
  ["account", "socialConnected", set({ account: undefined })],
  ["reason", "socialRevoked", set({ reason: 0 })],
];

describe("an invalid report", () => {
  let rig: EventRig;
  beforeAll(async () => {
    rig = await startEventRig();
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const good = (name: string) => newReport("w", exampleOf("scheduledTaskCompleted"), name);

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

  it.each(INVALID_MESSAGES)("[EVT] [EVT-34] [EVT-42] is refused, naming %s (%s)", async (field, kind, change) => {
    const named = kind.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const error = await errorFor(newReport("w", exampleOf(kind, change), "bad"));
    expect(error.startsWith(`reports[1].${named}.${field}: `), error).toBe(true);
  });

  it("[EVT] nothing of its batch is stored, and test mode does not change that", async () => {
    expect(await errorFor({ ...good("bad"), hop: 0, testMode: true })).toMatch("hop");
    const { rows } = await rig.rig.pool.query("select count(*)::int as count from outbound_webhook.event");
    expect(rows).toEqual([{ count: 0 }]);
  });

  it("[EVT] a batch has 1 to 200 reports", async () => {
    for (const reports of [[], Array.from({ length: 201 }, (_, index) => good(String(index)))]) {
      await expect(rig.events.reportEvents({ reports })).rejects.toMatchObject({ code: Code.InvalidArgument });
    }
    const most = Array.from({ length: 200 }, (_, index) => good(`${index}`));
    const { answers } = await rig.events.reportEvents({ reports: most });
    expect(new Set(answers.flatMap(({ eventIds }) => eventIds)).size).toBe(200);
  });
});

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { EVENT_TYPES } from "@toolgate/event-schemas/catalogue";
import { NotSentReason } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Body, type EventRig, exampleOf, newReport, schemaErrors, startEventRig } from "./event-rig.ts";

/** Becomes two events. */
const FIRST_MESSAGE = exampleOf("inboxMessageReceived");

describe("ReportEvents", () => {
  let rig: EventRig;
  beforeAll(async () => {
    rig = await startEventRig();
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const stored = async (workspaceId: string) => {
    const { rows } = await rig.rig.pool.query(
      "select id, type, hop from outbound_webhook.event where workspace_id = $1 order by type",
      [workspaceId],
    );
    return rows;
  };

  it("[EVT] responds after event and delivery are committed, with the ids in the order of the reports", async () => {
    const workspaceId = await rig.subscriber();
    const { answers } = await rig.events.reportEvents({
      reports: [exampleOf("scheduledTaskFailed"), FIRST_MESSAGE, exampleOf("scheduledTaskCompleted")].map((event) =>
        newReport(workspaceId, event, `${event.case}`),
      ),
    });
    const { rows } = await rig.rig.pool.query(
      `select d.event_id, e.type from outbound_webhook.delivery d
       join outbound_webhook.event e on e.id = d.event_id where d.workspace_id = $1`,
      [workspaceId],
    );
    const typeOf = new Map(rows.map(({ event_id, type }) => [event_id, type]));
    expect(answers.map(({ eventIds }) => eventIds.map((id) => typeOf.get(id)))).toEqual([
      ["scheduled_task.failed"],
      ["inbox.thread.created", "inbox.message.received"],
      ["scheduled_task.completed"],
    ]);
  });

  it.each([
    ["from a minute ago", 60_000],
    ["from days ago", 5 * 86_400_000],
  ])(
    "[OUT-57] [EVT-1] reports with the same source id are one event, %s, also with other times, in one batch and concurrently",
    async (_when, ageMs) => {
      const workspaceId = await rig.subscriber();
      const at = (ms: number) => timestampFromDate(new Date(Date.now() - ageMs + ms));
      const report = { ...newReport(workspaceId, FIRST_MESSAGE, "mail-1"), occurredAt: at(0) };
      const later = { ...report, occurredAt: at(3_000) };
      const first = await rig.events.reportEvents({ reports: [report, later] });
      const again = await Promise.all([
        rig.events.reportEvents({ reports: [later, { ...report, occurredAt: at(7_000) }] }),
        rig.events.reportEvents({ reports: [report] }),
      ]);
      const ids = first.answers[0]?.eventIds;
      for (const { answers } of [first, ...again]) for (const { eventIds } of answers) expect(eventIds).toEqual(ids);
      const another = { ...report, sourceId: "mail-2" };
      await Promise.all(
        [4_000, 5_000, 6_000].map((ms) => rig.events.reportEvents({ reports: [{ ...another, occurredAt: at(ms) }] })),
      );
      expect(await stored(workspaceId)).toHaveLength(4);
      expect(await rig.bodies(workspaceId, 4)).toHaveLength(4);
      const other = await rig.subscriber();
      await rig.events.reportEvents({ reports: [newReport(other, FIRST_MESSAGE, "mail-1")] });
      expect(await stored(other)).toHaveLength(2);
    },
  );

  it("[EVT-20] a widget chat sends neither of the inbox events", async () => {
    const workspaceId = await rig.subscriber();
    const widget = (isNew: boolean) =>
      exampleOf("inboxMessageReceived", (message) => {
        Object.assign(message.thread, { channel: "widget", chatId: "web-1", isNew });
      });
    const { answers } = await rig.events.reportEvents({
      reports: [newReport(workspaceId, widget(true), "w1"), newReport(workspaceId, widget(false), "w2")],
    });
    expect(answers).toMatchObject([1, 2].map(() => ({ eventIds: [], notSent: NotSentReason.WIDGET_CHAT })));
    expect(await stored(workspaceId)).toEqual([]);
  });

  it("[EVT-11] [EVT-21] [EVT-22] a change that leaves the status as it was sends nothing", async () => {
    const workspaceId = await rig.subscriber();
    for (const status of [1, 2, 3, 4]) {
      const same = exampleOf("inboxThreadStatusChanged", (message) => {
        Object.assign(message, { previousStatus: status, status, source: 1 });
      });
      const { answers } = await rig.events.reportEvents({ reports: [newReport(workspaceId, same, `same-${status}`)] });
      expect(answers).toMatchObject([{ eventIds: [], notSent: NotSentReason.STATUS_UNCHANGED }]);
    }
    expect(await stored(workspaceId)).toEqual([]);
  });

  it("[EVT-59] no type of event is sent in test mode", async () => {
    const workspaceId = await rig.subscriber();
    const reports = EVENT_TYPES.flatMap(({ type, report }) =>
      report ? [{ ...newReport(workspaceId, report.example, type), testMode: true }] : [],
    );
    const { answers } = await rig.events.reportEvents({ reports });
    expect(answers).toMatchObject(reports.map(() => ({ eventIds: [], notSent: NotSentReason.TEST_MODE })));
    expect(await stored(workspaceId)).toEqual([]);
  });

  it("[EVT-45] [EVT-46] [EVT-52] every status, source and reason is sent under its name", async () => {
    const workspaceId = await rig.subscriber();
    const sources = ["user", "auto_resolve", "customer_reply", "snooze_ended", "commslayer_sync", "system"];
    const statuses = ["open", "waiting", "snoozed", "resolved"];
    const reasons = ["removed", "data_deletion", "expired", "disconnected"];
    const changed = (values: Body) =>
      exampleOf("inboxThreadStatusChanged", (message) => Object.assign(message, values));
    const numbers = (names: string[]) => names.map((_, index) => index + 1);
    await rig.report(
      workspaceId,
      ...numbers(sources).map((source) => changed({ previousStatus: 4, status: 1, source })),
      ...numbers(statuses).map((status) => changed({ previousStatus: (status % 4) + 1, status, source: 1 })),
      ...numbers(reasons).map((reason) => exampleOf("socialRevoked", (message) => Object.assign(message, { reason }))),
    );
    const bodies = await rig.bodies(workspaceId, sources.length + statuses.length + reasons.length);
    expect(bodies.map(schemaErrors)).toEqual(bodies.map(() => null));
    const changes = bodies.filter(({ type }) => type === "inbox.thread.status_changed").map(({ data }) => data);
    const fromUser = changes.filter(
      ({ source, previous_status }) => source === "user" && previous_status !== "resolved",
    );
    expect(new Set(changes.map(({ source }) => source))).toEqual(new Set(sources));
    expect(fromUser.map((data) => `${data.previous_status} ${data.status}`).sort()).toEqual(
      ["waiting open", "snoozed waiting", "open resolved"].sort(),
    );
    const sent = bodies.flatMap(({ data }) => data.reason ?? []);
    expect(sent.sort()).toEqual([...reasons].sort());
  });

  it("[EVT-36] [EVT-40] [EVT-41] text is plain and cut after 10000 characters; attachments are only described", async () => {
    const workspaceId = await rig.subscriber();
    const later = (change: Body) =>
      exampleOf("inboxMessageReceived", ({ thread, message }) => {
        Object.assign(thread, { isNew: false });
        Object.assign(message, { attachments: [], ...change });
      });
    const file = { $typeName: "toolgate.outbound_webhook.v1.InboxAttachment", filename: "n".repeat(300), size: 7n };
    await rig.report(
      workspaceId,
      later({ body: { case: "text", value: "😀".repeat(10_001) } }),
      later({ body: { case: "html", value: `<style>p{}</style>${"<p>é</p>".repeat(9_000)}` } }),
      later({ attachments: Array.from({ length: 60 }, () => ({ ...file, mimetype: "no media type" })) }),
    );
    const bodies = await rig.bodies(workspaceId, 3);
    expect(bodies.map(schemaErrors)).toEqual([null, null, null]);
    const texts = bodies.map(({ data }) => data.message.text as string).filter((text) => [...text].length === 10_000);
    expect(texts.map((text) => [...text][0]).toSorted()).toEqual(["é", "😀"]);
    const attachments = bodies.flatMap(({ data }) => data.message.attachments);
    expect(attachments).toHaveLength(50);
    expect(attachments[0]).toEqual({ filename: "n".repeat(255), mimetype: "application/octet-stream", size: 7 });
  });

  it("[EVT-50] a public call of a tool without the flag is sent without args and result", async () => {
    const workspaceId = await rig.subscriber();
    const call = exampleOf(
      "publicToolSubmitted",
      (message) => void Object.assign(message, { argsJson: '{"n":1}', resultJson: '{"n":2}', webhookEvent: false }),
    );
    await rig.report(workspaceId, call);
    const [body] = await rig.bodies(workspaceId, 1);
    expect(body?.data).toMatchObject({ args: null, result: null });
  });

  it("[OUT-17] [EVT-14] a public call over 256 KB is sent without args and result; a result that is not an object is wrapped", async () => {
    const workspaceId = await rig.subscriber();
    const withResult = (resultJson: string, success = true) =>
      exampleOf(
        "publicToolSubmitted",
        (message) => void Object.assign(message, { resultJson, success, argsJson: "{}", webhookEvent: true }),
      );
    await rig.report(
      workspaceId,
      withResult(JSON.stringify({ text: "x".repeat(300_000) })),
      withResult('["a"]'),
      withResult("", false),
    );
    const bodies = await rig.bodies(workspaceId, 3);
    expect(bodies.map(schemaErrors)).toEqual(bodies.map(() => null));
    const results = bodies.map(({ data }) => JSON.stringify([data.args, data.result, data.truncated ?? false]));
    expect(results.sort()).toEqual(["[null,null,true]", '[{},{"value":["a"]},false]', "[{},{},false]"].sort());
  });
});

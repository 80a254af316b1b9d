import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Client, createClient } from "@connectrpc/connect";
import { eventTypeOf, schemaPath } from "@toolgate/event-schemas/catalogue";
import { eventSchema } from "@toolgate/event-schemas/envelope";
import { EventReportSchema, EventService } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { createLogger } from "@toolgate/service-host/logger";
import type { Service } from "@toolgate/service-host/service";
import { localTransport } from "@toolgate/service-host/transport";
import { eventually } from "@toolgate/testbed/eventually";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { type OutboundRig, startOutboundRig } from "./outbound-rig.ts";

const INTERNAL_TOKEN = "internal";

export type ReportInit = MessageInitShape<typeof EventReportSchema>;
/** What is reported: the member `event` of a report. */
export type Happened = NonNullable<ReportInit["event"]>;

/** The JSON bodies that a test reads. */
// biome-ignore lint/suspicious/noExplicitAny: each type has a shape of its own, which the schemas check
export type Body = Record<string, any>;

export interface EventRig extends AsyncDisposable {
  rig: OutboundRig;
  events: Client<typeof EventService>;
  /** Registers an endpoint of a new workspace for all types; returns the workspace's id. */
  subscriber(): Promise<string>;
  /** Reports, and returns the ids of the events. */
  report(workspaceId: string, ...happened: Happened[]): Promise<string[]>;
  /** The bodies that a workspace's endpoint has received, once there are so many, in the order of their types. */
  bodies(workspaceId: string, count: number): Promise<Body[]>;
}

export const OCCURRED_AT = new Date("2026-11-18T11:06:40.900Z");

export const ALL_TYPES = [
  "tool.completed",
  "inbox.thread.created",
  "inbox.message.received",
  "inbox.thread.status_changed",
  "scheduled_task.completed",
  "scheduled_task.failed",
  "public_tool.submitted",
  "social.connected",
  "social.revoked",
  "custom.*",
];

export function newReport(workspaceId: string, event: Happened, sourceId: string): ReportInit {
  return {
    workspaceId,
    workspace: "acme-code",
    occurredAt: timestampFromDate(OCCURRED_AT),
    hop: 1,
    sourceId,
    event,
  };
}

export function eventClient(service: Service): Client<typeof EventService> {
  const log = createLogger({ service: "test", level: "silent" });
  return createClient(
    EventService,
    localTransport((router) => service.routes(router), log, INTERNAL_TOKEN),
  );
}

export async function startEventRig(): Promise<EventRig> {
  const rig = await startOutboundRig();
  const events = eventClient(rig.services[0] as Service);
  let workspaces = 0;
  let happenings = 0;
  return {
    rig,
    events,
    async subscriber() {
      workspaces += 1;
      const workspaceId = `events-${workspaces}`;
      await rig.register(workspaceId, `/${workspaceId}`, ALL_TYPES);
      return workspaceId;
    },
    async report(workspaceId, ...happened) {
      const reports = happened.map((event) => {
        happenings += 1;
        return newReport(workspaceId, event, `source-${happenings}`);
      });
      const { answers } = await events.reportEvents({ reports });
      return answers.flatMap(({ eventIds }) => eventIds);
    },
    async bodies(workspaceId, count) {
      const requests = await eventually(() => {
        const found = rig.requestsTo(`/${workspaceId}`);
        return found.length >= count && found;
      });
      const bodies: Body[] = requests.map((request) => JSON.parse(String(request.body)));
      return bodies.sort((a, b) => String(a.type).localeCompare(String(b.type)));
    },
    [Symbol.asyncDispose]: () => rig[Symbol.asyncDispose](),
  };
}

/** What is wrong with a body by the published schema of its type; null when nothing is. */
export function faultsOf(body: Body): unknown {
  const kind = eventTypeOf(body.type);
  if (!kind) return "not in the catalogue";
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
  addFormats.default(ajv);
  const validate = ajv.compile(eventSchema(kind, `https://gate.example${schemaPath(kind)}`));
  return validate(body) ? null : validate.errors;
}

/** A report of every kind. */
export const HAPPENINGS: Record<string, Happened> = {
  firstMessage: {
    case: "inboxMessageReceived",
    value: {
      thread: { chatId: "email:ada@example.com:7731", channel: "email", status: 1, isNew: true },
      message: {
        id: "msg-1",
        subject: "Where is it?",
        from: { name: "Ada", address: "ada@example.com" },
        body: { case: "html", value: "<p>Hello,</p><p>where is <b>A-1001</b>?</p>" },
        receivedAt: "2026-11-18T12:06:40+01:00",
        attachments: [{ filename: "invoice.pdf", mimetype: "application/pdf", size: 48_211n }],
      },
    },
  },
  laterMessage: {
    case: "inboxMessageReceived",
    value: {
      thread: { chatId: "whatsapp:+4930123456", channel: "whatsapp", status: 1, isNew: false },
      message: {
        id: "msg-2",
        from: { name: "", address: "+4930123456" },
        body: { case: "text", value: "Thanks <3" },
        receivedAt: "2026-11-18T11:06:40.120Z",
      },
    },
  },
  statusChanged: {
    case: "inboxThreadStatusChanged",
    value: { chatId: "email:ada@example.com:7731", channel: "email", previousStatus: 2, status: 1, source: 3 },
  },
  taskCompleted: {
    case: "scheduledTaskCompleted",
    value: { task: "Nightly report", tool: "stock_report", durationMs: 1840 },
  },
  taskFailed: {
    case: "scheduledTaskFailed",
    value: {
      task: "Nightly report",
      tool: "stock_report",
      durationMs: 30_012,
      error: "no answer\n    at run (t.js:3:7)",
    },
  },
  publicTool: {
    case: "publicToolSubmitted",
    value: {
      tool: "contact_form",
      success: true,
      origin: "https://shop.example.com/contact?token=x",
      ip: "203.0.113.77",
      webhookEvent: true,
      argsJson: '{"email":"ada@example.com","user":{"Password":"x","_client":1},"_api_key":{"id":1}}',
      resultJson: '{"success":true,"access_token":"t","tokens":3}',
    },
  },
  connected: {
    case: "socialConnected",
    value: {
      account: { id: "8812004", name: "Ada Example" },
      connectedAt: timestampFromDate(new Date("2026-10-02T11:40:05Z")),
    },
  },
  revoked: {
    case: "socialRevoked",
    value: {
      ref: "partner-user-17",
      account: { id: "8812004", name: "Ada Example" },
      connectedAt: timestampFromDate(new Date("2026-10-02T11:40:05Z")),
      reason: 2,
    },
  },
};

/** A report of a kind with some of its members changed; `change` gets the message to work on. */
export function changed(name: keyof typeof HAPPENINGS, change: (message: Body) => void): Happened {
  const report = create(EventReportSchema, { event: HAPPENINGS[name] as Happened });
  const copy = structuredClone(report.event) as Happened;
  change(copy.value as Body);
  return copy;
}

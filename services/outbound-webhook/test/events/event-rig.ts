import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Client, createClient } from "@connectrpc/connect";
import { CUSTOM_WILDCARD, EVENT_TYPES, eventTypeOf, schemaPath } from "@toolgate/event-schemas/catalogue";
import { eventSchema } from "@toolgate/event-schemas/envelope";
import { EventReportSchema, EventService } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { createLogger } from "@toolgate/service-host/process/logger";
import type { Service } from "@toolgate/service-host/service";
import { eventually } from "@toolgate/testbed/eventually";
import { testTransport } from "@toolgate/testbed/transports";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { type OutboundRig, startOutboundRig } from "../outbound-rig.ts";

export type ReportInit = MessageInitShape<typeof EventReportSchema>;
/** The member `event` of a report. */
export type Reported = NonNullable<ReportInit["event"]>;

/** A JSON body that a test reads. */
// biome-ignore lint/suspicious/noExplicitAny: the shape depends on the type, and the schemas check it
export type Body = Record<string, any>;

export interface EventRig extends AsyncDisposable {
  rig: OutboundRig;
  events: Client<typeof EventService>;
  /** Registers an endpoint for all types in a new workspace; returns the workspace's id. */
  subscriber(): Promise<string>;
  /** Reports, and returns the ids of the events. */
  report(workspaceId: string, ...reported: Reported[]): Promise<string[]>;
  /** Waits for this many requests to a workspace's endpoint; returns their bodies, sorted by type. */
  bodies(workspaceId: string, count: number): Promise<Body[]>;
}

const OCCURRED_AT = new Date("2026-11-18T11:06:40.900Z");

/** Everything that an endpoint can subscribe to, custom events by their wildcard. */
export const ALL_TYPES = EVENT_TYPES.filter(({ subscribable }) => subscribable !== false).map(({ type }) =>
  type === "custom" ? CUSTOM_WILDCARD : type,
);

export function newReport(workspaceId: string, event: Reported, sourceId: string): ReportInit {
  return {
    workspaceId,
    workspace: "acme-code",
    occurredAt: timestampFromDate(OCCURRED_AT),
    hop: 1,
    sourceId,
    event,
  };
}

function eventClient(service: Service): Client<typeof EventService> {
  const log = createLogger({ service: "test", level: "silent" });
  return createClient(
    EventService,
    testTransport((router) => service.routes(router), log),
  );
}

export async function startEventRig(): Promise<EventRig> {
  const rig = await startOutboundRig();
  const events = eventClient(rig.services[0] as Service);
  let workspaces = 0;
  let sources = 0;
  return {
    rig,
    events,
    async subscriber() {
      workspaces += 1;
      const workspaceId = `events-${workspaces}`;
      await rig.register(workspaceId, `/${workspaceId}`, ALL_TYPES);
      return workspaceId;
    },
    async report(workspaceId, ...reported) {
      const reports = reported.map((event) => {
        sources += 1;
        return newReport(workspaceId, event, `source-${sources}`);
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

/** The violations of the published schema in a body; null if there are none. */
export function schemaErrors(body: Body): unknown {
  const kind = eventTypeOf(body.type);
  if (!kind) return "not in the catalogue";
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
  addFormats.default(ajv);
  const validate = ajv.compile(eventSchema(kind, `https://gate.example${schemaPath(kind)}`));
  return validate(body) ? null : validate.errors;
}

/** The report of the catalogue's first example of this kind, which `change` may modify. */
export function exampleOf(name: NonNullable<Reported["case"]>, change: (message: Body) => void = () => {}): Reported {
  const example = EVENT_TYPES.find(({ report }) => report?.case === name)?.report?.example;
  if (!example) throw new Error(`no example of ${name}`);
  const { event } = create(EventReportSchema, { event: example });
  const copy = structuredClone(event) as Reported;
  change(copy.value as Body);
  return copy;
}

import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  EventReport,
  EventReportSchema,
  NotSentReason,
} from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";

/** A JSON Schema (2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The `data` of an event. */
export type EventData = Readonly<Record<string, unknown>>;

/** Everything about an event type, except for the message in which other services report it. */
export interface EventType {
  /** The type in the envelope; `custom` is the entry for all types that begin with `custom.`. */
  readonly type: string;
  /** When it is sent: one sentence for people who write receivers. */
  readonly sent: string;
  /** Whether a service of this version sends it. */
  readonly hasSource: boolean;
  /** False for a type that goes to one chosen endpoint only. Default: true. */
  readonly subscribable?: false;
  /** Schema of `data`. Every documented field is required; others may be added at any time. [WVER-2] */
  readonly data: JsonSchema;
  /** The `data` of an event as it is sent. */
  readonly example: EventData;
  /** Fields of `data` that are null, next to `truncated: true`, in an event that would exceed 256 KB. [OUT-17] */
  readonly nullWhenTooLarge?: readonly string[];
  /** Set for types that other services report with `ReportEvents`. */
  readonly report?: ReportSource;
}

/** How the report of another service becomes the data of an event. */
interface ReportSource {
  /** The member of `EventReport.event`. */
  readonly case: NonNullable<ReportedEvent["case"]>;
  /** Data, or why nothing is sent; undefined: no event of this type. Throws an InvalidField that names a wrong field. */
  dataOf(report: ReportedEvent["value"]): EventData | NotSentReason | undefined;
  /** A report that becomes the type's example. */
  readonly example: ReportedEventInit;
}

type ReportedEvent = EventReport["event"];
type ReportedEventInit = NonNullable<MessageInitShape<typeof EventReportSchema>["event"]>;
type ValueOf<Event, Case> = Extract<Event, { case: Case }> extends { value: infer Value } ? Value : never;

/** The source of a type that is reported in the member `name` of `EventReport.event`. */
export function reportedAs<Case extends ReportSource["case"]>(
  name: Case,
  dataOf: (report: ValueOf<ReportedEvent, Case>) => EventData | NotSentReason | undefined,
  example: ValueOf<ReportedEventInit, Case>,
): ReportSource {
  return {
    case: name,
    dataOf: (report) => dataOf(report as ValueOf<ReportedEvent, Case>),
    example: { case: name, value: example } as ReportedEventInit,
  };
}

/** An object whose named fields are all required; others may be added. [WVER-2] */
export function object(properties: Record<string, JsonSchema>): JsonSchema {
  return { type: "object", properties, required: Object.keys(properties) };
}

export function text(description: string): JsonSchema {
  return { type: "string", description };
}

/** Schema of a string that is the name of a proto enum's value, in lower case. */
export function choice(description: string, values: Readonly<Record<string, string | number>>): JsonSchema {
  const names = Object.values(values).filter((value) => typeof value === "string" && value !== "UNSPECIFIED");
  return { type: "string", enum: names.map((name) => String(name).toLowerCase()), description };
}

import { randomBytes } from "node:crypto";
import { isSubscribable } from "@toolgate/event-schemas/catalogue";
import type { WorkspaceEvent } from "@toolgate/gen/toolgate/events/v1/workspace_event_pb";
import { isJsonObject, type JsonObject } from "@toolgate/rules/json-object";
import { isRequestId } from "@toolgate/telemetry/request-id";
import type { TraceContext } from "@toolgate/telemetry/trace";
import { envelopeBytes } from "./envelope.ts";

/** An event as it arrives from another service. */
export type PublishedEvent = Pick<
  WorkspaceEvent,
  "eventId" | "workspaceId" | "workspace" | "type" | "created" | "dataJson" | "hop"
> & { requestId?: string };

/** An event as it is stored. */
export interface StoredEvent {
  id: string;
  /** Decides the partition. */
  createdAt: Date;
  /** The event's own time, if the event may be stored again under another `createdAt`. */
  movedFrom: Date | null;
  workspaceId: string;
  type: string;
  hop: number;
  body: Buffer;
  /** The tool that a tool.completed is about; "" for other types. */
  tool?: string;
  /** Id of the HTTP request that caused it. Default: the current request. */
  requestId?: string;
  /** W3C trace context. Default: the current one. */
  trace?: TraceContext;
}

type EventCheck = { ok: true; event: StoredEvent } | { ok: false; reason: string };

const EVENT_ID = /^evt_[0-9a-f]{32}$/;
const MAX_ID_CHARS = 128;
const LAST_SECOND_OF_9999 = 253_402_300_799n;
const DAY_MS = 86_400_000;
/** An event's time may be at most this many days ago, or ahead: only those days have partitions. */
export const MAX_DAYS_LATE = 2;
const MAX_DAYS_EARLY = 1;

/** Decides whether a message is a well-formed event of the catalogue, and builds what is stored. */
export function checkEvent(published: PublishedEvent, now: Date): EventCheck {
  if (!EVENT_ID.test(published.eventId)) return refuse("event_id must be evt_ and 32 hex characters");
  if (!isSubscribable(published.type)) return refuse("type is not in the catalogue");
  if (!isIdentity(published.workspaceId) || !isIdentity(published.workspace)) return refuse("workspace is malformed");
  if (published.created > LAST_SECOND_OF_9999) return refuse("created is not a time in seconds");
  const data = objectIn(published.dataJson);
  if (!data) return refuse("data is not a JSON object");
  const createdSeconds = Number(published.created);
  const body = envelopeBytes({ ...published, id: published.eventId, createdSeconds });
  if (!body) return refuse("the body is over 256 KB");
  return {
    ok: true,
    event: {
      id: published.eventId,
      ...storageTime(createdSeconds, now),
      workspaceId: published.workspaceId,
      type: published.type,
      hop: published.hop >= 2 ? 2 : 1,
      body,
      tool: published.type === "tool.completed" && typeof data.tool === "string" ? data.tool : "",
      ...(published.requestId !== undefined && {
        requestId: isRequestId(published.requestId) ? published.requestId : "",
      }),
    },
  };
}

/**
 * The time under which an event is stored: its own, so that a repeated message finds the stored row. Events that are
 * too late or too early for the partitions are stored under the current time; the store looks for duplicates in both
 * places.
 */
function storageTime(createdSeconds: number, now: Date): Pick<StoredEvent, "createdAt" | "movedFrom"> {
  const created = new Date(createdSeconds * 1000);
  const age = now.getTime() - created.getTime();
  if (age >= -MAX_DAYS_EARLY * DAY_MS && age <= MAX_DAYS_LATE * DAY_MS) return { createdAt: created, movedFrom: null };
  return { createdAt: now, movedFrom: created };
}

/** [EVT-1] */
export function newEventId(): string {
  return `evt_${randomBytes(16).toString("hex")}`;
}

function isIdentity(text: string): boolean {
  return text.length > 0 && text.length <= MAX_ID_CHARS && !text.includes("\0");
}

function objectIn(json: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function refuse(reason: string): EventCheck {
  return { ok: false, reason };
}

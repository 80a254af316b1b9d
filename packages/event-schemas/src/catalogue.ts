import type { EventType } from "./event-type.ts";
import { custom } from "./types/custom.ts";
import { inboxMessageReceived } from "./types/inbox-message-received.ts";
import { inboxThreadCreated } from "./types/inbox-thread-created.ts";
import { inboxThreadStatusChanged } from "./types/inbox-thread-status-changed.ts";
import { publicToolSubmitted } from "./types/public-tool-submitted.ts";
import { scheduledTaskCompleted } from "./types/scheduled-task-completed.ts";
import { scheduledTaskFailed } from "./types/scheduled-task-failed.ts";
import { socialConnected } from "./types/social-connected.ts";
import { socialRevoked } from "./types/social-revoked.ts";
import { toolCompleted } from "./types/tool-completed.ts";
import { webhookTest } from "./types/webhook-test.ts";

/** The closed catalogue. [EVT-7] [EVT-8..18] */
export const EVENT_TYPES: readonly EventType[] = [
  toolCompleted,
  inboxThreadCreated,
  inboxMessageReceived,
  inboxThreadStatusChanged,
  scheduledTaskCompleted,
  scheduledTaskFailed,
  publicToolSubmitted,
  socialConnected,
  socialRevoked,
  custom,
  webhookTest,
];

const CUSTOM_TYPE = /^custom\.[a-z0-9._-]{1,60}$/;

/** The kind of an event, from its type. Every `custom.<name>` is of the kind `custom`. Undefined: not in the catalogue. */
export function eventTypeOf(type: string): EventType | undefined {
  const wanted = CUSTOM_TYPE.test(type) ? "custom" : type;
  return EVENT_TYPES.find((kind) => kind.type === wanted);
}

/** Path at which the gateway publishes the list of types; below it, `/<type>.json` is the schema of one. */
export const EVENT_TYPES_PATH = "/webhooks/event-types";

/** Path of a type's schema. */
export function schemaPath({ type }: EventType): string {
  return `${EVENT_TYPES_PATH}/${type}.json`;
}

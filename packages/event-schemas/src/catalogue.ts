import type { EventType } from "./event-type.ts";
import { custom } from "./types/custom.ts";
import { inboxMessageReceived } from "./types/inbox-message-received.ts";
import { inboxThreadCreated } from "./types/inbox-thread-created.ts";
import { inboxThreadStatusChanged } from "./types/inbox-thread-status-changed.ts";
import { publicToolSubmitted } from "./types/public-tool-submitted.ts";
import { scheduledTaskCompleted, scheduledTaskFailed } from "./types/scheduled-task.ts";
import { socialConnected, socialRevoked } from "./types/social.ts";
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

/** Subscribes to all custom events. */
export const CUSTOM_WILDCARD = "custom.*";
export const CUSTOM_PREFIX = "custom.";
/** [EVT-57] [EVT-58] */
export const CUSTOM_PATTERN = "^custom\\.[a-z0-9._-]{1,60}$";
const CUSTOM_TYPE = new RegExp(CUSTOM_PATTERN);

const BY_NAME = new Map(EVENT_TYPES.map((kind) => [kind.type, kind]));

/** The catalogue's entry for an event's type; `custom` for every `custom.<name>`. Undefined: not in the catalogue. */
export function eventTypeOf(type: string): EventType | undefined {
  return BY_NAME.get(type) ?? (CUSTOM_TYPE.test(type) ? custom : undefined);
}

/** Whether events of exactly this type may come from other services and be subscribed to. [EVT-7] */
export function isSubscribable(type: string): boolean {
  const kind = eventTypeOf(type);
  return kind !== undefined && kind.subscribable !== false && type !== custom.type;
}

/** The type as shown to people. */
export function displayName({ type }: EventType): string {
  return type === custom.type ? "custom.<name>" : type;
}

/** Path at which the gateway publishes the list of types; below it, `/<type>.json` is the schema of one. */
export const EVENT_TYPES_PATH = "/webhooks/event-types";

/** Path of a type's schema. */
export function schemaPath({ type }: EventType): string {
  return `${EVENT_TYPES_PATH}/${type}.json`;
}

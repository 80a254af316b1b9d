import { EVENT_TYPES } from "@toolgate/event-schemas/catalogue";

/** Sent by SendTestEvent alone, to the endpoint that it names. [EVT-18] */
export const TEST_TYPE = "webhook.test";

/** The kind of all custom events. */
export const CUSTOM_KIND = "custom";
export const CUSTOM_PREFIX = "custom.";
export const CUSTOM_WILDCARD = "custom.*";
const CUSTOM_TYPE = /^custom\.[a-z0-9._-]{1,60}$/;

/** The event types that endpoints can subscribe to by name. [EVT-7] */
const NAMED_TYPES: ReadonlySet<string> = new Set(
  EVENT_TYPES.map(({ type }) => type).filter((type) => type !== TEST_TYPE && type !== CUSTOM_KIND),
);

/** What this installation sends; for the others there is an entrance, and no service yet that reports them. */
const KINDS_WITH_SOURCE: ReadonlySet<string> = new Set(["tool.completed", CUSTOM_KIND, TEST_TYPE]);

/** Whether events of this type come in from other services. */
export function isReportedType(type: string): boolean {
  return NAMED_TYPES.has(type) || CUSTOM_TYPE.test(type);
}

/** Whether an endpoint may list this in its events. */
export function isSubscribable(type: string): boolean {
  return isReportedType(type) || type === CUSTOM_WILDCARD;
}

/** Whether anything in this installation sends events of this kind. */
export function hasSource(kind: string): boolean {
  return KINDS_WITH_SOURCE.has(kind);
}

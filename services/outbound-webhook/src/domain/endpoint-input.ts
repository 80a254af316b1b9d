import { isSubscribable } from "./catalogue.ts";

/** Endpoints that a workspace may have. */
export const MAX_ENDPOINTS_PER_WORKSPACE = 20;
export const MAX_DESCRIPTION_CHARS = 500;
export const MAX_EVENTS_PER_ENDPOINT = 100;

/** What is wrong with a list of event types; undefined when nothing is. [OUT-5] */
export function faultOfEvents(events: readonly string[]): string | undefined {
  if (events.length === 0) return "events: at least one event type";
  if (events.length > MAX_EVENTS_PER_ENDPOINT) return `events: at most ${MAX_EVENTS_PER_ENDPOINT} event types`;
  const unknown = events.find((type) => !isSubscribable(type));
  if (unknown !== undefined) return `events: "${unknown.slice(0, 80)}" is not in the catalogue`;
  return undefined;
}

export function faultOfDescription(description: string): string | undefined {
  if (description.length > MAX_DESCRIPTION_CHARS) return `description: at most ${MAX_DESCRIPTION_CHARS} characters`;
  if (/\p{Cc}/u.test(description)) return "description: no control characters";
  return undefined;
}

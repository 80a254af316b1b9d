import { CUSTOM_WILDCARD, isSubscribable } from "@toolgate/event-schemas/catalogue";
import { hasControlCharacters } from "@toolgate/rules/name";

export const MAX_ENDPOINTS_PER_WORKSPACE = 20;
const MAX_DESCRIPTION_CHARS = 500;
const MAX_EVENTS_PER_ENDPOINT = 100;
const MAX_TOOLS_PER_ENDPOINT = 100;
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;
/** The store searches for each type separately. */
const MAX_TYPES_PER_FILTER = 20;

/** Which rule the event types of an endpoint break; undefined if none. [OUT-5] */
export function eventsViolation(events: readonly string[]): string | undefined {
  if (events.length === 0) return "events: at least one event type";
  if (events.length > MAX_EVENTS_PER_ENDPOINT) return `events: at most ${MAX_EVENTS_PER_ENDPOINT} event types`;
  const unknown = events.find((type) => type !== CUSTOM_WILDCARD && !isSubscribable(type));
  return unknown === undefined ? undefined : `events: "${unknown.slice(0, 80)}" is not in the catalogue`;
}

/** Which rule a list of tools breaks; undefined if none. */
export function toolsViolation(tools: readonly string[]): string | undefined {
  if (tools.length > MAX_TOOLS_PER_ENDPOINT) return `tools: at most ${MAX_TOOLS_PER_ENDPOINT}`;
  return tools.every((name) => TOOL_NAME.test(name)) ? undefined : "tools: not the name of a tool";
}

export function descriptionViolation(description: string): string | undefined {
  if (description.length > MAX_DESCRIPTION_CHARS) return `description: at most ${MAX_DESCRIPTION_CHARS} characters`;
  return hasControlCharacters(description) ? "description: must not contain control characters" : undefined;
}

/** Which rule a list of event types to search for breaks; undefined if none. */
export function typesViolation(types: readonly string[]): string | undefined {
  if (types.length > MAX_TYPES_PER_FILTER) return `types: at most ${MAX_TYPES_PER_FILTER}`;
  const unknown = types.find((type) => !isSubscribable(type));
  return unknown === undefined ? undefined : `types: "${unknown.slice(0, 80)}" is not an event type`;
}

/** Binds a sealed secret to its endpoint. */
export function sealingContext(endpointId: number): string {
  return `endpoint:${endpointId}`;
}

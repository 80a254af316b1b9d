import { isReportedType } from "./catalogue.ts";

/** Each type is a search of its own. */
export const MAX_TYPES_PER_FILTER = 20;

/** What is wrong with a list of event types to look for; undefined when nothing is. */
export function faultOfTypes(types: readonly string[]): string | undefined {
  if (types.length > MAX_TYPES_PER_FILTER) return `types: at most ${MAX_TYPES_PER_FILTER}`;
  const unknown = types.find((type) => !isReportedType(type));
  if (unknown !== undefined) return `types: "${unknown.slice(0, 80)}" is not the name of one event type`;
  return undefined;
}

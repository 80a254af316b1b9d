import * as v from "valibot";

/** Of any parameter, a value that the page does not know counts as not set. */
export const text = v.optional(v.fallback(v.optional(v.string()), undefined));
export const count = v.optional(
  v.fallback(
    v.optional(v.pipe(v.union([v.string(), v.number()]), v.transform(Number), v.integer(), v.minValue(0))),
    undefined,
  ),
);

/** The number by which the server knows an object. */
export const id = v.optional(v.fallback(v.optional(v.pipe(v.string(), v.regex(/^[0-9]{1,16}$/))), undefined));
/** An ISO time. */
export const time = v.optional(v.fallback(v.optional(v.pipe(v.string(), v.isoTimestamp())), undefined));

export function oneOf<const Options extends readonly string[]>(options: Options) {
  return v.optional(v.fallback(v.optional(v.picklist(options)), undefined));
}

/** What every list keeps in its URL: the row that is open, and the first one in sight. */
export const LIST = { open: text, at: count };

/** Parameters as anybody would write them: `?endpoint=12`, not `?endpoint=%2212%22`. */
export function parseSearch(search: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(search));
}

export function stringifySearch(search: Record<string, unknown>): string {
  const set = Object.entries(search).filter(([, value]) => value !== undefined);
  const parameters = new URLSearchParams(set.map(([name, value]) => [name, String(value)]));
  return set.length === 0 ? "" : `?${parameters}`;
}

import * as v from "valibot";

/** Of any parameter, a value that the page does not know counts as not set. */
export const text = v.optional(
  v.fallback(v.optional(v.pipe(v.union([v.string(), v.number()]), v.transform(String))), undefined),
);
export const count = v.optional(v.fallback(v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))), undefined));

/** The number by which the server knows an object. */
export const id = v.optional(
  v.fallback(
    v.optional(v.pipe(v.union([v.string(), v.number()]), v.transform(String), v.regex(/^[0-9]{1,15}$/))),
    undefined,
  ),
);
/** An ISO time. */
export const time = v.optional(v.fallback(v.optional(v.pipe(v.string(), v.isoTimestamp())), undefined));

export function oneOf<const Options extends readonly string[]>(options: Options) {
  return v.optional(v.fallback(v.optional(v.picklist(options)), undefined));
}

/** What every list keeps in its URL: the row that is open, and the first one in sight. */
export const LIST = { open: text, at: count };

/** Most calls of an answer that are passed on. What the model asks for beyond them is dropped. */
export const MAX_CALLS = 25;
/** An answer that begins more calls than this is invalid: finding the call of a fragment takes time for each of them. */
export const MAX_BEGUN_CALLS = 100;
/** Most fragments of calls in one answer. In events of one fragment each, more do not fit into an answer. */
export const MAX_CALL_FRAGMENTS = 50_000;
/** Most characters of the arguments of all calls. */
export const MAX_ARGUMENT_CHARACTERS = 200_000;
/** Most bytes of one answer. */
export const MAX_ANSWER_BYTES = 4_194_304;
/** Most characters of one of its events. */
export const MAX_EVENT_CHARACTERS = 1_048_576;
/** More than any answer uses. */
const MAX_TOKENS = 10_000_000;

/** A number of tokens. Servers may report anything. */
export function toCount(tokens: unknown): number {
  if (typeof tokens !== "number" || !(tokens > 0)) return 0;
  return Math.min(Math.round(tokens), MAX_TOKENS);
}

import type { Item } from "../conversation/items.ts";

const YES = /^\s*(?:yes|ja)\s*[.!]?\s*$/i;

/**
 * The proposal that a message confirms: a plain yes, right after an answer with one proposal. After two it is not clear which
 * one is meant, and after another message of the user's, what the yes answers.
 */
export function confirmedBy(message: string, items: readonly Item[]): string | undefined {
  if (!YES.test(message)) return undefined;
  const asked = items.findLastIndex((item) => item.kind === "message" && item.role === "user");
  const proposed = items.slice(asked + 1).flatMap((item) => (item.kind === "tool" && item.proposalId) || []);
  return proposed.length === 1 ? proposed[0] : undefined;
}

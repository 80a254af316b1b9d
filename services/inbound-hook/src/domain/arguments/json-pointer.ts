/** The names and indexes that a pointer is made of. */
export type JsonPointer = readonly string[];

const INVALID_ESCAPE = /~(?![01])/;

/** [IN-37] Parses a JSON Pointer (RFC 6901). "" points to the whole body. Undefined when the text is not a pointer. */
export function parsePointer(text: string): JsonPointer | undefined {
  if (text === "") return [];
  if (!text.startsWith("/") || INVALID_ESCAPE.test(text)) return undefined;
  const parts = text.slice(1).split("/");
  // In this order, because "~01" means "~1".
  return parts.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** [IN-38] The value to which the pointer leads in a parsed JSON value; undefined if a name or an index does not exist. */
export function followPointer(pointer: JsonPointer, value: unknown): unknown {
  let current = value;
  for (const part of pointer) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, part)) return undefined;
    // The length is the only member of an array that is not an item.
    if (Array.isArray(current) && part === "length") return undefined;
    current = (current as Record<string, unknown>)[part];
  }
  return current;
}

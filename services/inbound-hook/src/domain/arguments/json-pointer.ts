/** The names and indexes that a pointer is made of. */
export type JsonPointer = readonly string[];

const INVALID_ESCAPE = /~(?![01])/;
const ARRAY_INDEX = /^(?:0|[1-9][0-9]*)$/;

/** [IN-37] Parses a JSON Pointer (RFC 6901). "" points to the whole body. Undefined when the text is not a pointer. */
export function parsePointer(text: string): JsonPointer | undefined {
  if (text === "") return [];
  if (!text.startsWith("/") || INVALID_ESCAPE.test(text)) return undefined;
  const parts = text.slice(1).split("/");
  // In this order, because "~01" means "~1".
  return parts.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** [IN-38] The value to which the pointer leads in a parsed JSON value; not found if a name or an index does not exist. */
export function followPointer(
  pointer: JsonPointer,
  value: unknown,
): { found: true; value: unknown } | { found: false } {
  let current = value;
  for (const part of pointer) {
    if (typeof current !== "object" || current === null) return { found: false };
    if (Array.isArray(current)) {
      // "-", the place after the last item, never exists.
      if (!ARRAY_INDEX.test(part) || Number(part) >= current.length) return { found: false };
      current = current[Number(part)];
    } else {
      if (!Object.hasOwn(current, part)) return { found: false };
      current = (current as Record<string, unknown>)[part];
    }
  }
  return { found: true, value: current };
}

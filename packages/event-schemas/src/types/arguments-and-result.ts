import type { JsonSchema } from "../event-type.ts";

/** The members `args`, `result` and `truncated` of a tool event. */
export const argumentsAndResult: Readonly<Record<string, JsonSchema>> = {
  args: {
    type: ["object", "null"],
    description: "Redacted: values of secret-looking names read [entfernt], names that begin with _ are missing.",
  },
  result: { type: ["object", "null"], description: "Redacted like args; {} when the tool failed without one." },
  truncated: { const: true, description: "Only when the event would exceed 256 KB: args and result are null." },
};

/** A body over 256 KB goes out without args and result; `otherwise` says what they are in all other bodies. [OUT-17] */
export function unlessTruncated(otherwise: JsonSchema): JsonSchema {
  const truncated = { properties: { args: { type: "null" }, result: { type: "null" } }, required: ["truncated"] };
  return { anyOf: [truncated, { ...otherwise, not: { required: ["truncated"] } }] };
}

import type { JsonSchema } from "../event-type.ts";

/** [OUT-17] */
export const NULL_WHEN_TOO_LARGE = ["args", "result"];

/** The fields `args`, `result` and `truncated` of a tool event. */
export const argumentsAndResult: Readonly<Record<string, JsonSchema>> = {
  args: {
    type: ["object", "null"],
    description:
      "Redacted: values of secret-looking names are replaced by [entfernt], names that begin with _ are left out.",
  },
  result: { type: ["object", "null"], description: "Redacted like args; {} if the tool failed without one." },
  truncated: { const: true, description: "Only when the event would exceed 256 KB: args and result are null." },
};

/** Schema of a tool event: args and result are null if the body would be too large, else as `otherwise` says. [OUT-17] */
export function unlessTruncated(otherwise: JsonSchema): JsonSchema {
  const truncated = { properties: { args: { type: "null" }, result: { type: "null" } }, required: ["truncated"] };
  return { anyOf: [truncated, { ...otherwise, not: { required: ["truncated"] } }] };
}

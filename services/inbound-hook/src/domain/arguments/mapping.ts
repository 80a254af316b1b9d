import type { JsonObject } from "@toolgate/rules/json-object";
import { followPointer, parsePointer } from "./json-pointer.ts";

/** Where the arguments of a hook's target come from. */
export interface ArgumentSource {
  from: "fields" | "mapping" | "payload";
  /** Argument name to JSON Pointer. */
  pointers: Readonly<Record<string, string>>;
}

/** [IN-39] The argument that gets the whole body. */
export const PAYLOAD = "payload";

/** [IN-21] The largest body of a hook call. */
export const MAX_BODY_BYTES = 262_144;
export const TOO_LARGE = "the arguments are larger than 256 KB";

/**
 * [IN-36..39] The arguments that a body gives to a hook's target, before the target's own rules are applied:
 *
 * - `fields`: the top-level fields of the body;
 * - `mapping`: each argument from the place that its pointer leads to; if there is none, it is left out;
 * - `payload`: the whole body as the argument `payload`, and the arguments that have a pointer, which may replace it.
 *
 * [IN-68] Names that begin with an underscore are left out: they belong to the server.
 *
 * Undefined when the pointers take the same data so often that the arguments would be larger than the largest body.
 */
export function mapArguments(source: ArgumentSource, body: JsonObject): JsonObject | undefined {
  // A map, and not an object, because a body may have a member "__proto__".
  const args = new Map<string, unknown>();
  if (source.from === "fields") {
    for (const [name, value] of Object.entries(body)) args.set(name, value);
  } else {
    if (source.from === "payload") args.set(PAYLOAD, body);
    for (const [name, text] of Object.entries(source.pointers)) {
      args.delete(name);
      const pointer = parsePointer(text);
      const value = pointer && followPointer(pointer, body);
      if (value !== undefined) args.set(name, value);
    }
  }
  const kept = [...args].filter(([name]) => !name.startsWith("_"));
  // The fields of a body are not larger than the body.
  if (source.from !== "fields" && !areSmall(kept, body)) return undefined;
  return Object.fromEntries(kept);
}

/** Whether all arguments together fit into the largest body, or into this one: as JSON, a form can be larger than that. */
function areSmall(args: readonly [name: string, value: unknown][], body: JsonObject): boolean {
  let left = Math.max(MAX_BODY_BYTES, jsonBytes(body));
  for (const [, value] of args) {
    left -= jsonBytes(value);
    // Not one text of them all, which could be a hundred times as long.
    if (left < 0) return false;
  }
  return true;
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/**
 * [IN-61] The part of a body that the target gets. Without a setting, an assistant gets all of it: the server adds no
 * arguments for it, so names with an underscore need not be left out.
 */
export function dataForTarget(
  kind: "tool" | "assistant",
  source: ArgumentSource,
  body: JsonObject,
): JsonObject | undefined {
  return kind === "assistant" && source.from === "fields" ? body : mapArguments(source, body);
}

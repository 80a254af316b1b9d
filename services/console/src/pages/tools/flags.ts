import type { JsonObject } from "@bufbuild/protobuf";
import { TOOL_FLAGS } from "../../routes/tools.ts";
import { FLAG_WARNINGS } from "../../text/en/tools/tools.ts";

export type Flag = (typeof TOOL_FLAGS)[number];

export interface SetFlag {
  flag: Flag;
  /** Why it has no effect; undefined when it has one. */
  warning: string | undefined;
}

const BLOCKED_BY_ASYNC: readonly Flag[] = ["external_api", "inbound_hook"];

/** [TOOL-14] [TOOL-15] [BLD-30] [BLD-31] The flags that a definition sets, also those whose value has no effect. */
export function setFlags(definition: JsonObject): SetFlag[] {
  return TOOL_FLAGS.filter((flag) => Boolean(definition[flag])).map((flag) => ({
    flag,
    warning: warningOf(flag, definition),
  }));
}

function warningOf(flag: Flag, definition: JsonObject): string | undefined {
  const value = definition[flag];
  // Anything but false makes a tool async.
  if (flag === "async") return undefined;
  if (value !== true) return FLAG_WARNINGS.notTrue(value);
  return definition.async && BLOCKED_BY_ASYNC.includes(flag) ? FLAG_WARNINGS.async : undefined;
}

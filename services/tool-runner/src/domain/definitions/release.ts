import { isDeepStrictEqual } from "node:util";
import { explainRelease } from "@toolgate/api-examples/release";
import { isJsonObject, ownValue } from "@toolgate/rules/json-object";
import type { Definition } from "./definition.ts";

/** [LOG-11] [EVT-26] The kind of caller, as logs and events name it. */
export type EntryType = "api_key" | "dry_run" | "chat" | "scheduled_task" | "public_api" | "hook";

/** Whether the tool itself may be called this way. Whether an API key lists it is checked elsewhere. */
export function isReleased(definition: Definition, entry: EntryType): boolean {
  switch (entry) {
    // [TOOL-14] [TOOL-17]
    case "api_key":
      return definition.externalApi && !definition.async;
    // [TOOL-3] [TOOL-4] Neither flag replaces the other.
    case "public_api":
      return definition.publicApi;
    // [IN-48] [IN-49] [IN-51]
    case "hook":
      return (definition.inboundHook || definition.externalApi) && !definition.async;
    // Callers from inside the workspace need no flag.
    default:
      return true;
  }
}

/** Whether a definition, as it was saved, is released for API keys. */
export function carriesRelease(saved: unknown): boolean {
  const { released, async } = explainRelease(saved);
  return released && !async;
}

/** [RO-1] [RO-7] [IN-52..54] Whether a run of this tool, with everything that it calls, may only read. */
export function runsReadOnly(definition: Definition, entry: EntryType): boolean {
  if (entry === "api_key" || entry === "dry_run") return !definition.externalApiWrite;
  return entry === "hook" && !definition.inboundHookWrite && !definition.externalApiWrite;
}

/** [RO-4] Callers through an API never use free SQL, even if the run may write. */
export function mayUseFreeSql({ entryType, readOnly }: { entryType: EntryType; readOnly: boolean }): boolean {
  return !readOnly && entryType !== "api_key" && entryType !== "dry_run" && entryType !== "public_api";
}

const REPORTING: ReadonlySet<EntryType> = new Set(["api_key", "chat", "scheduled_task", "public_api"]);

/** [EVT-25..30] [LOOP-1] Whether a run of a tool with webhook_event causes tool.completed. */
export function reportsCompletion(run: { entryType: EntryType; hop: number; testMode: boolean }): boolean {
  return REPORTING.has(run.entryType) && run.hop === 1 && !run.testMode;
}

/** [EXPO-1] */
const GUARDED_FLAGS = ["inbound_hook", "inbound_hook_write", "external_api", "external_api_write", "public_api"];

/** The flags that a definition may set. */
export const FLAGS: readonly string[] = [...GUARDED_FLAGS, "webhook_event", "async"];

/** [EXPO-3] [EXPO-5] [EXPO-6] The guarded flags that a save turns exactly true; `before` is undefined for a new tool. */
export function newlyExposed(before: unknown, after: unknown): string[] {
  const isSet = (saved: unknown, flag: string) => isJsonObject(saved) && ownValue(saved, flag) === true;
  return GUARDED_FLAGS.filter((flag) => isSet(after, flag) && !isSet(before, flag));
}

/** The names, sorted, of the members that differ between two saved definitions. The order of members does not matter. */
export function changedFields(before: unknown, after: unknown): string[] {
  const old = isJsonObject(before) ? before : {};
  const saved = isJsonObject(after) ? after : {};
  const names = new Set([...Object.keys(old), ...Object.keys(saved)]);
  return [...names].filter((name) => !isDeepStrictEqual(ownValue(old, name), ownValue(saved, name))).toSorted();
}

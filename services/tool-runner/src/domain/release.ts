import type { Definition } from "./definition.ts";
import type { EntryType } from "./entry-type.ts";
import { isJsonObject, ownValue } from "./json-object.ts";

/** [TOOL-14] [TOOL-17] What the tool itself says to calls by key; whether the key lists it is another question. */
export function isReleasedForKeys(definition: Definition): boolean {
  return definition.externalApi && !definition.async;
}

/** Whether the tool itself lets this kind of start in. Runs from inside the workspace need no flag. */
export function isReleased(definition: Definition, entry: EntryType): boolean {
  if (entry === "api_key") return isReleasedForKeys(definition);
  // [TOOL-3] [TOOL-4] One flag never stands for the other.
  if (entry === "public_api") return definition.publicApi;
  // [IN-48] [IN-49] [IN-51]
  if (entry === "hook") return (definition.inboundHook || definition.externalApi) && !definition.async;
  return true;
}

/** The same for a definition as it was saved. */
export function carriesRelease(saved: unknown): boolean {
  return isJsonObject(saved) && ownValue(saved, "external_api") === true && !ownValue(saved, "async");
}

/** What keeps a saved definition from calls by key, for administrators. */
export function explainRelease(saved: unknown): { released: boolean; releasedWithoutEffect: boolean; async: boolean } {
  const definition = isJsonObject(saved) ? saved : {};
  const flag = ownValue(definition, "external_api");
  return {
    released: flag === true,
    releasedWithoutEffect: flag !== true && Boolean(flag),
    async: Boolean(ownValue(definition, "async")),
  };
}

/** [RO-1] [RO-7] [IN-52..54] Whether a run of this tool, with all that it calls, may only read. */
export function runsReadOnly(definition: Definition, entry: EntryType): boolean {
  if (entry === "api_key" || entry === "dry_run") return !definition.externalApiWrite;
  return entry === "hook" && !definition.inboundHookWrite && !definition.externalApiWrite;
}

/** [RO-4] Free SQL is never for starts through an API, also where they may write. */
export function mayUseFreeSql({ entryType, readOnly }: { entryType: EntryType; readOnly: boolean }): boolean {
  return !readOnly && entryType !== "api_key" && entryType !== "dry_run" && entryType !== "public_api";
}

/** [EVT-25..30] [LOOP-1] Whether a run from outside of a tool that carries webhook_event reports tool.completed. */
export function reportsCompletion(run: { entryType: EntryType; hop: number; testMode: boolean }): boolean {
  return REPORTING.has(run.entryType) && run.hop === 1 && !run.testMode;
}

const REPORTING: ReadonlySet<EntryType> = new Set(["api_key", "chat", "scheduled_task", "public_api"]);

/** [EXPO-1] */
export const GUARDED_FLAGS = [
  "inbound_hook",
  "inbound_hook_write",
  "external_api",
  "external_api_write",
  "public_api",
] as const;

/**
 * [EXPO-3] [EXPO-5] [EXPO-6] The guarded flags that a save turns exactly true. `before` is the definition that is
 * replaced, undefined for a tool that is new.
 */
export function newlyExposed(before: unknown, after: unknown): string[] {
  return GUARDED_FLAGS.filter((flag) => isSet(after, flag) && !isSet(before, flag));
}

function isSet(saved: unknown, flag: string): boolean {
  return isJsonObject(saved) && ownValue(saved, flag) === true;
}

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HookArguments, HookArgumentsSchema } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { MAPPING } from "../../../text/en/webhooks/hooks.ts";
import type { Parameter } from "../use-targets.ts";

export const SOURCES = ["fields", "payload", "mapping"] as const;

/** One argument from one place in the body. */
export interface Row {
  argument: string;
  pointer: string;
}

/** Where the arguments of a target come from, as the form holds it. */
export interface Source {
  from: (typeof SOURCES)[number];
  rows: readonly Row[];
}

export const EMPTY_ROW: Row = { argument: "", pointer: "" };

export function takesPayload(parameters: readonly Parameter[] | undefined): boolean {
  return parameters?.some(({ name, type }) => name === "payload" && type === "object") ?? true;
}

/** [IN-40] What the server takes when nobody chooses. */
export function defaultSource(parameters: readonly Parameter[] | undefined): Source {
  return { from: parameters && takesPayload(parameters) ? "payload" : "fields", rows: [] };
}

export function sourceOf(args: HookArguments | undefined): Source {
  const { case: from = "fields", value } = args?.source ?? {};
  const pointers = value && "pointers" in value ? value.pointers : {};
  return { from, rows: Object.entries(pointers).map(([argument, pointer]) => ({ argument, pointer })) };
}

export function messageOf({ from, rows }: Source): MessageInitShape<typeof HookArgumentsSchema> {
  if (from === "fields") return { source: { case: from, value: {} } };
  const pointers = Object.fromEntries(rows.map(({ argument, pointer }) => [argument, pointer]));
  return { source: { case: from, value: { pointers } } };
}

/** What is wrong with the rows as such, or "". The server checks the rest. */
export function faultOf({ from, rows }: Source): string {
  if (from === "fields") return "";
  if (rows.some(({ argument }) => argument === "")) return MAPPING.chooseArgument;
  return new Set(rows.map(({ argument }) => argument)).size < rows.length ? MAPPING.twice : "";
}

const MAX_SUGGESTIONS = 200;

/** JSON Pointers of the places in a JSON body, the shallow ones first. */
export function pointersIn(body: string): string[] {
  const found: string[] = [];
  try {
    const level: (readonly [pointer: string, value: unknown])[] = [["", JSON.parse(body)]];
    for (const [pointer, value] of level) {
      if (found.length >= MAX_SUGGESTIONS) break;
      if (pointer !== "") found.push(pointer);
      if (typeof value !== "object" || value === null) continue;
      for (const [name, child] of Object.entries(value)) {
        level.push([`${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`, child]);
      }
    }
  } catch {
    // Not JSON: there is nothing to suggest.
  }
  return found;
}

import type { JsonObject } from "@toolgate/rules/json-object";
import { parseCallBody, type Violation } from "../domain/calls/call-body.ts";
import type { EntryType } from "../domain/definitions/release.ts";
import { containsTemplateMarker } from "../domain/forbidden-text.ts";
import type { LoadedTool } from "./workspace/definitions.ts";

type CheckedBody = { ok: true; args: JsonObject } | { ok: false; violations: Violation[] };

const TEMPLATE_MARKER = { field: "", rule: "marker", message: "{{ is not allowed" };

/** The arguments that a run of the tool gets from this body, or everything that is wrong with them. */
export function checkBody(
  tool: Pick<LoadedTool, "validator">,
  body: Uint8Array,
  { entry, fromForm }: { entry: EntryType; fromForm: boolean },
): CheckedBody {
  const parsed = parseCallBody(body);
  if (!parsed.ok) return parsed;
  const { args, violations } = tool.validator.check(parsed.args, { fromForm });
  if (violations.length > 0) return { ok: false, violations };
  // [IN-44] Only declared arguments are left here.
  if (entry === "hook" && containsTemplateMarker(args)) return { ok: false, violations: [TEMPLATE_MARKER] };
  return { ok: true, args };
}

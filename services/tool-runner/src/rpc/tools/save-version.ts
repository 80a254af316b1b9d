import { Code, ConnectError } from "@connectrpc/connect";
import type { JsonObject } from "@toolgate/rules/json-object";
import { hasControlCharacters } from "@toolgate/rules/name";
import { type Compiler, SAVE_LIMIT_MS } from "@toolgate/sandbox/compiler";
import { editConflict } from "@toolgate/service-host/edit-conflict";
import type { CheckedDefinition } from "../../domain/definitions/check-definition.ts";
import type { Definition } from "../../domain/definitions/definition.ts";
import { declaredArguments } from "../../domain/definitions/parameter-schema.ts";
import { publishedViolations } from "../../domain/definitions/published-parts.ts";
import { changedFields, newlyExposed } from "../../domain/definitions/release.ts";
import { checkSaved } from "../../execution/workspace/definitions.ts";
import {
  countTools,
  findNameInOtherCase,
  insertVersion,
  lockCurrentVersion,
  type ReplacedTool,
  type ToolRow,
} from "../../store/tools.ts";
import type { Change } from "../change.ts";

const MAX_TOOLS = 2_000;

/** Saves a valid definition as the tool's newest version. [EXPO-3] [EXPO-4] Aborted is HTTP 409. */
export async function saveVersion(
  { client, principal, audit }: Change,
  tool: {
    name: string;
    definition: unknown;
    restored: boolean;
    confirmExposure: boolean;
    /** The version that the save may replace, 0 for none; undefined for any. */
    expectedVersion?: number | undefined;
  },
): Promise<ToolRow> {
  const { name, definition, restored } = tool;
  const { workspaceId, email } = principal;
  const replaced = await lockCurrentVersion(client, workspaceId, name);
  mustBeExpected(replaced, tool.expectedVersion);
  const before = replaced?.definition;
  if (replaced === undefined) {
    if ((await countTools(client, workspaceId)) >= MAX_TOOLS) {
      throw new ConnectError(`at most ${MAX_TOOLS} tools`, Code.ResourceExhausted);
    }
    // Generated clients have one class or method for both.
    const alike = await findNameInOtherCase(client, workspaceId, name);
    if (alike !== undefined) throw new ConnectError(`name: there is a tool ${alike} already`, Code.AlreadyExists);
  }
  // [EXPO] Every flag of a restored version counts as newly set, even if the replaced version has it too.
  const exposed = newlyExposed(restored ? undefined : before, definition);
  if (exposed.length > 0 && !tool.confirmExposure) {
    throw new ConnectError(`newly exposed by ${exposed.join(", ")}: repeat with confirm_exposure=true`, Code.Aborted);
  }
  const action = restored ? "tool.restore" : replaced === undefined ? "tool.create" : "tool.edit";
  await audit(action, name, changedFields(before, definition));
  if (exposed.length > 0) await audit("tool.expose", name, exposed);
  return insertVersion(client, { workspaceId, name, definition, savedBy: email });
}

function mustBeExpected(replaced: ReplacedTool | undefined, expected: number | undefined): void {
  if (expected === undefined || expected === (replaced?.version ?? 0)) return;
  if (replaced) throw editConflict(replaced);
  throw new ConnectError("the tool was deleted after you opened it", Code.Aborted);
}

/** The definition as it would run. Fails with invalid_argument and every violation. */
export async function mustBeValid(compiler: Compiler, workspaceId: string, definition: unknown): Promise<Definition> {
  const checked = await checkDraft(compiler, workspaceId, definition);
  if (checked.ok) return checked.definition;
  const violations = checked.violations.map(({ path, message }) => `${path}: ${message}`);
  throw new ConnectError(violations.join("; "), Code.InvalidArgument);
}

/** The definition as it would run, or everything for which a save would refuse it. */
export async function checkDraft(
  compiler: Compiler,
  workspaceId: string,
  definition: unknown,
): Promise<CheckedDefinition> {
  const checked = await checkSaved(compiler, workspaceId, definition, SAVE_LIMIT_MS);
  if (!checked.ok) return checked;
  // Not part of the check of stored definitions: one saved by an earlier version stays usable.
  const unreadable = declaredArguments(checked.definition.parameters).filter(({ name }) => hasControlCharacters(name));
  const violations = unreadable.map(({ name }) => ({
    path: "parameters.properties",
    message: `${JSON.stringify(name)} must not contain control characters`,
  }));
  violations.push(...publishedViolations(definition as JsonObject));
  return violations.length > 0 ? { ok: false, violations } : checked;
}

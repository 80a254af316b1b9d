import { Code, ConnectError } from "@connectrpc/connect";
import type { HookTarget } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import type { Targets } from "../../clients/targets.ts";
import { argumentsViolation, type DeclaredArgument, defaultArguments } from "../../domain/arguments/hook-arguments.ts";
import type { ArgumentSource } from "../../domain/arguments/mapping.ts";
import type { Target } from "../../store/hooks.ts";
import { invalidArgument, refuseIf } from "../request-fields.ts";

const MAX_NAME_CHARACTERS = 200;

/** [IN-6] Exactly one tool or assistant. */
export function targetOf(message: HookTarget | undefined): Target {
  const { target } = message ?? {};
  if (target?.case === undefined) throw invalidArgument("target: name a tool or an assistant");
  const { case: kind, value: name } = target;
  if (name === "" || name.length > MAX_NAME_CHARACTERS || name.includes("\0"))
    throw invalidArgument(`target.${kind}: not a name`);
  return { kind, name };
}

/**
 * [IN-48..51] [IN-55] The arguments that a hook with this target is saved with. Refuses a target that is not released for
 * hooks, and arguments that it does not take.
 */
export async function checkedArguments(
  targets: Targets,
  workspaceId: string,
  target: Target,
  wanted: ArgumentSource | undefined,
): Promise<ArgumentSource> {
  const chosen = await argumentsIfReleased(targets, workspaceId, target, wanted);
  if (chosen) return chosen;
  throw new ConnectError(`target: the ${target.kind} is not released for hooks`, Code.FailedPrecondition);
}

/** The same, but undefined for a target that is not released for hooks. */
export async function argumentsIfReleased(
  targets: Targets,
  workspaceId: string,
  { kind, name }: Target,
  wanted: ArgumentSource | undefined,
): Promise<ArgumentSource | undefined> {
  let declared: DeclaredArgument[] | undefined;
  if (kind === "assistant") {
    if (!(await targets.isAssistantReleased(workspaceId, name))) return undefined;
  } else {
    const checked = await targets.checkTool(workspaceId, name);
    if (!checked.released) return undefined;
    declared = checked.arguments;
  }
  const chosen = wanted ?? defaultArguments(declared ?? []);
  refuseIf(argumentsViolation(chosen, declared));
  return chosen;
}

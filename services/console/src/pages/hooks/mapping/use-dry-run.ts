import { useQuery } from "@connectrpc/connect-query";
import { HookDeliveryService, type MappingViolation } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_delivery_pb";
import { type Failure, failureOf } from "../../../rpc/errors.ts";
import { useWorkspace } from "../../../rpc/use-session.ts";
import { useSettled } from "../../../ui/use-settled.ts";
import { faultOf, messageOf, type Source } from "./pointers.ts";
import type { Sample } from "./use-sample-body.ts";

const TYPING_MS = 300;

export interface DryRun {
  /** What the target would get, as JSON; empty when it would not run, or is not known yet. */
  argsJson: string;
  violations: readonly MappingViolation[];
  /** The first violation of each top-level argument. */
  byArgument: ReadonlyMap<string, string>;
  /** Why the arguments cannot even be saved. */
  failure: Failure | undefined;
}

/** Asks the server what these arguments make of a body, as the user types. Nothing is run. */
export function useDryRun(hookId: bigint, source: Source, sample: Sample): DryRun {
  const workspace = useWorkspace();
  const settledSource = useSettled(source, TYPING_MS);
  const body = useSettled(sample, TYPING_MS);
  const isComplete = faultOf(settledSource) === "" && (body.deliveryId !== "" || body.pasted.trim() !== "");
  const { data, error } = useQuery(
    HookDeliveryService.method.tryMapping,
    {
      workspace,
      hookId,
      arguments: messageOf(settledSource),
      source:
        body.deliveryId === ""
          ? { case: "body", value: new TextEncoder().encode(body.pasted) }
          : { case: "deliveryId", value: body.deliveryId },
    },
    { enabled: isComplete, gcTime: 0, placeholderData: (before) => before },
  );
  const shown = isComplete && !error ? data : undefined;
  const violations = shown?.violations ?? [];
  const byArgument = new Map(
    violations.map(({ field, message }) => [field.split(".")[0] ?? "", message] as const).reverse(),
  );
  return {
    argsJson: shown?.argsJson ?? "",
    violations,
    byArgument,
    failure: isComplete && error ? failureOf(error) : undefined,
  };
}

import {
  type HookDelivery,
  HookDeliveryStatus,
  type HookRun,
} from "@toolgate/gen/toolgate/inbound_hook/v1/hook_delivery_pb";
import { HOOK_LOG } from "../../text/en/webhooks/hook-log.ts";
import { Time } from "../../ui/time.tsx";
import { targetText } from "../hooks/hook-status.tsx";

interface CallSentenceProps {
  of: HookDelivery;
  runs: readonly HookRun[];
}

/** What became of a call, in a sentence. */
export function CallSentence({ of, runs }: CallSentenceProps) {
  return (
    <p role="status">
      Accepted <Time at={of.receivedAt} />; {outcomeOf(of, runs.at(-1))}
    </p>
  );
}

function outcomeOf({ status, target, runs, durationMs, error }: HookDelivery, last: HookRun | undefined): string {
  const it = `the ${targetText(target)}`;
  const times = runs > 1 ? ` This was run ${runs}.` : "";
  const by = last?.requestedBy ? `, as ${last.requestedBy} asked` : "";
  switch (status) {
    case HookDeliveryStatus.WAITING:
      return runs === 0 ? `${it} is about to run.` : `${it} is about to run again.`;
    case HookDeliveryStatus.RUNNING:
      return `${it} is running${by}.`;
    case HookDeliveryStatus.SUCCEEDED:
      return `${it} succeeded after ${durationMs} ms.${times}`;
    case HookDeliveryStatus.INTERRUPTED:
      return `${it} was interrupted: ${HOOK_LOG.interrupted}.${times}`;
    default:
      return hasRun(last)
        ? `${it} failed after ${durationMs} ms: ${error}${times && `.${times}`}`
        : `${it} was not run: ${error}`;
  }
}

/** A target that was refused, such as for its arguments, left no execution and no chat. */
function hasRun(run: HookRun | undefined): boolean {
  return run !== undefined && (run.executionId !== "" || run.chatId !== "");
}

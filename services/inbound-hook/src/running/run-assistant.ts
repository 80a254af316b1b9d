import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { AssistantRunService, type RunForHookResponse } from "@toolgate/gen/toolgate/chat/v1/assistant_run_pb";
import { fencedMessage } from "../domain/fence.ts";
import { loggedError, loggedText } from "../domain/logged-json.ts";
import { containsMarker } from "../domain/marker.ts";
import { failed, type RunEnd, type RunTarget } from "./run-target.ts";

interface AssistantDependencies {
  chat: Transport;
  onError: (error: unknown) => void;
}

/** Longer than an assistant's own limit, which ends the run. */
const TIMEOUT_MS = 600_000;

/** [IN-60..63] Runs assistants, each in a chat of its own. The chat service checks the release. */
export function createRunAssistant({ chat, onError }: AssistantDependencies): RunTarget {
  const client = createClient(AssistantRunService, chat);
  return async ({ deliveryId, createdAt, workspaceId, run, args, stop }) => {
    // [IN-44]
    if (containsMarker(args)) return failed("the data: {{ is not allowed");
    const { hook, chatId, requestId } = run;
    const request = {
      workspaceId,
      workspace: hook.workspace,
      assistant: hook.target,
      chatId,
      message: fencedMessage(args),
      hookId: BigInt(hook.id),
      hookName: hook.name,
      deliveryId,
      externalId: run.externalId ?? "",
      receivedAt: createdAt.toISOString(),
      requestId,
    };
    try {
      return endOf(await client.runForHook(request, { timeoutMs: TIMEOUT_MS, signal: stop }));
    } catch (error) {
      // The assistant goes on. Another process repeats the call with the same chat id, and gets its reply.
      if (stop.aborted) return { outcome: "not-started", reason: "" };
      onError(error);
      return endOfFailedCall(error);
    }
  };
}

function endOf({ outcome, durationMs }: RunForHookResponse): RunEnd {
  const ran = { durationMs, executionId: "" };
  if (outcome.case === "reply") return { outcome: "succeeded", result: loggedText(outcome.value), ...ran };
  if (outcome.case === "error") return failed(loggedError(outcome.value), ran);
  // [IN-59]
  return failed("not released");
}

/** A repeat is safe: it has the same chat id, which starts nothing twice. */
function endOfFailedCall(error: unknown): RunEnd {
  const { code } = ConnectError.from(error);
  if (code === Code.Unavailable) return { outcome: "not-started", reason: "the assistant could not be started" };
  if (code === Code.DeadlineExceeded) return failed("the assistant did not reply in time");
  return failed("the platform failed during the run: what the assistant did is not known");
}

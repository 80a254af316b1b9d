import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { AssistantRunService, type RunForHookResponse } from "@toolgate/gen/toolgate/chat/v1/assistant_run_pb";
import { containsMarker, fencedMessage } from "../domain/arguments/fence.ts";
import { loggedError, loggedText } from "../domain/log/logged-json.ts";
import { failed, type RunEnd, type RunTarget } from "./run-target.ts";

interface AssistantDependencies {
  chat: Transport;
  onError: (error: unknown) => void;
}

/** Longer than an assistant's own limit, which ends the run. */
const TIMEOUT_MS = 600_000;

/**
 * [IN-60..63] Runs assistants, each in a chat of its own. The chat service checks the release. A run may be longer than a
 * process has time to stop, so a stop ends only the wait: the next process waits for the reply of the same chat.
 */
export function createRunAssistant({ chat, onError }: AssistantDependencies): RunTarget {
  const client = createClient(AssistantRunService, chat);
  return async ({ deliveryId, createdAt, workspaceId, run, argsJson }, stop) => {
    // [IN-44]
    if (containsMarker(argsJson)) return failed("the data: {{ is not allowed");
    const { hook, chatId, requestId } = run;
    const request = {
      workspaceId,
      workspace: hook.workspace,
      assistant: hook.target,
      chatId,
      message: fencedMessage(argsJson),
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

/** No chat process was reached, or the connection to one broke. A repeat is safe: the same chat id starts nothing twice. */
const REPEATED: readonly Code[] = [Code.Unavailable, Code.Aborted, Code.Canceled];

function endOfFailedCall(error: unknown): RunEnd {
  const { code } = ConnectError.from(error);
  if (REPEATED.includes(code)) return { outcome: "not-started", reason: "the assistant could not be started" };
  if (code === Code.DeadlineExceeded) return failed("the assistant did not reply in time");
  if (code === Code.ResourceExhausted) return failed("the message to the assistant or its reply is too large");
  if (code === Code.InvalidArgument) return failed("the assistant was not started: it cannot take this message");
  return failed("the platform failed during the run: what the assistant did is not known");
}

import { randomUUID } from "node:crypto";
import type { RunRequest } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { type EntryType, runsReadOnly } from "../domain/definitions/release.ts";
import { createRunScope, type RunScope } from "./run.ts";
import type { LoadedTool } from "./workspace/definitions.ts";

/** Who starts a run. */
export type Caller = Exclude<RunRequest["caller"], { case: undefined }>;

export const ENTRY_TYPES: Readonly<Record<Caller["case"], EntryType>> = {
  key: "api_key",
  chat: "chat",
  scheduledTask: "scheduled_task",
  publicApi: "public_api",
  hook: "hook",
};

const CHAT_ID_RANDOM_CHARACTERS = 12;

export function runScopeOf(
  request: RunRequest,
  caller: Caller,
  { definition }: LoadedTool,
  { nowMs, receivedMs }: { nowMs: number; receivedMs: number },
): RunScope {
  const { workspaceId, workspace, workspaceEpoch: epoch } = request;
  const entryType = ENTRY_TYPES[caller.case];
  const given = {
    ...{ workspaceId, workspace, epoch, entryType, dryRun: undefined },
    readOnly: caller.case === "chat" ? caller.value.readOnly : runsReadOnly(definition, entryType),
    testMode: caller.case !== "key" && caller.value.testMode,
    hop: hopOf(caller),
    reportedCall: caller.case === "key" ? { caller: caller.value, receivedMs } : undefined,
    ...identityOf(caller, nowMs),
  };
  return createRunScope(given, definition.timeoutMs);
}

/** [LOOP-2] Everything that a hook causes has hop 2, regardless of the hop of the hook's own request. */
function hopOf(caller: Caller): number {
  if (caller.case === "chat" || caller.case === "scheduledTask") return caller.value.hop;
  return caller.case === "hook" ? 2 : 1;
}

function identityOf(caller: Caller, nowMs: number): Pick<RunScope, "chatId" | "callerId" | "injected"> {
  switch (caller.case) {
    case "key": {
      const { keyId, keyName, ip } = caller.value;
      const random = randomUUID().slice(-CHAT_ID_RANDOM_CHARACTERS);
      // [LOG-12]
      const chatId = `apikey_${keyId}_${Math.floor(nowMs / 1000)}_${random}`;
      // [TOOL-40..43]
      return { chatId, callerId: keyId, injected: { _api_key: { id: keyId, name: keyName, ip } } };
    }
    case "hook": {
      const { chatId, hookId, hookName, deliveryId, externalId, receivedAt } = caller.value;
      // [IN-67]
      const _webhook = {
        hook_id: hookId,
        hook_name: hookName,
        delivery_id: deliveryId,
        external_id: externalId || null,
        received_at: receivedAt,
      };
      return { chatId, callerId: hookId, injected: { _webhook } };
    }
    case "scheduledTask":
      return { chatId: caller.value.chatId, callerId: caller.value.taskId, injected: {} };
    default:
      return { chatId: caller.value.chatId, callerId: caller.value.callerId, injected: {} };
  }
}

import { randomUUID } from "node:crypto";
import type { HookCaller, KeyCaller, RunRequest } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { type EntryType, runsReadOnly } from "../domain/definitions/release.ts";
import { createRunScope, type RunScope } from "./run.ts";
import type { LoadedTool } from "./workspace/definitions.ts";

/** Who starts a run. */
export type Caller = Exclude<RunRequest["caller"], { case: undefined }>;

type FromCaller = Pick<RunScope, "readOnly" | "testMode" | "chatId" | "callerId" | "injected" | "hop">;

const ENTRY_TYPES: Readonly<Record<Caller["case"], EntryType>> = {
  key: "api_key",
  chat: "chat",
  scheduledTask: "scheduled_task",
  publicApi: "public_api",
  hook: "hook",
  test: "test",
};

const CHAT_ID_RANDOM_CHARACTERS = 12;
const HOOK_HOP = 2;

export function entryTypeOf(caller: Caller): EntryType {
  return ENTRY_TYPES[caller.case];
}

export function runScopeOf(
  request: RunRequest,
  caller: Caller,
  tool: LoadedTool,
  { nowMs, receivedMs }: { nowMs: number; receivedMs: number },
): RunScope {
  const { workspaceId, workspace, workspaceEpoch: epoch } = request;
  const entryType = entryTypeOf(caller);
  const fromCaller = scopeFromCaller(caller, runsReadOnly(tool.definition, entryType), nowMs);
  const reportedCall = caller.case === "key" ? { caller: caller.value, receivedMs } : undefined;
  const given = { workspaceId, workspace, epoch, dryRun: undefined, reportedCall, entryType, ...fromCaller };
  return createRunScope(given, tool.definition.timeoutMs);
}

function scopeFromCaller(caller: Caller, readOnly: boolean, nowMs: number): FromCaller {
  switch (caller.case) {
    case "key":
      return scopeFromKey(caller.value, readOnly, nowMs);
    case "chat": {
      const { chatId, callerId, testMode, hop } = caller.value;
      return { readOnly: caller.value.readOnly, testMode, chatId, callerId, injected: {}, hop };
    }
    case "scheduledTask": {
      const { chatId, taskId, testMode, hop } = caller.value;
      return { readOnly, testMode, chatId, callerId: taskId, injected: {}, hop };
    }
    case "hook":
      return scopeFromHook(caller.value, readOnly);
    default: {
      const { chatId, callerId, testMode } = caller.value;
      return { readOnly, testMode, chatId, callerId, injected: {}, hop: 1 };
    }
  }
}

function scopeFromKey({ keyId, keyName, ip }: KeyCaller, readOnly: boolean, nowMs: number): FromCaller {
  const seconds = Math.floor(nowMs / 1000);
  return {
    readOnly,
    testMode: false,
    // [LOG-12]
    chatId: `apikey_${keyId}_${seconds}_${randomUUID().slice(-CHAT_ID_RANDOM_CHARACTERS)}`,
    callerId: keyId,
    // [TOOL-40..43]
    injected: { _api_key: { id: keyId, name: keyName, ip } },
    hop: 1,
  };
}

/** [LOOP-2] Everything that a hook causes has hop 2, regardless of the hop of the hook's own request. */
function scopeFromHook({ chatId, testMode, ...hook }: HookCaller, readOnly: boolean): FromCaller {
  // [IN-67]
  const _webhook = {
    hook_id: hook.hookId,
    hook_name: hook.hookName,
    delivery_id: hook.deliveryId,
    external_id: hook.externalId || null,
    received_at: hook.receivedAt,
  };
  return { readOnly, testMode, chatId, callerId: hook.hookId, injected: { _webhook }, hop: HOOK_HOP };
}

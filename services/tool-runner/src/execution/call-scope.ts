import { randomUUID } from "node:crypto";
import type { HookCaller, KeyCaller, RunRequest } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import type { EntryType } from "../domain/definitions/release.ts";
import { runsReadOnly } from "../domain/definitions/release.ts";
import type { LoadedTool } from "./definitions.ts";
import { MAX_EVENTS_PER_CALL, MAX_MAILS_PER_CALL, type RunScope } from "./run-scope.ts";

/** Who starts a run. */
export type Caller = Exclude<RunRequest["caller"], { case: undefined }>;

type Start = Pick<RunScope, "readOnly" | "testMode" | "chatId" | "callerId" | "injected" | "hop">;

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

export function runScopeOf(request: RunRequest, caller: Caller, tool: LoadedTool, nowMs: number): RunScope {
  const entryType = entryTypeOf(caller);
  return {
    workspaceId: request.workspaceId,
    workspace: request.workspace,
    epoch: request.workspaceEpoch,
    dryRun: undefined,
    entryType,
    ...startOf(caller, runsReadOnly(tool.definition, entryType), nowMs),
    eventsLeft: MAX_EVENTS_PER_CALL,
    mailsLeft: MAX_MAILS_PER_CALL,
    usedSecrets: new Set(),
    deadline: performance.now() + tool.definition.timeoutMs,
    records: [],
  };
}

function startOf(caller: Caller, readOnly: boolean, nowMs: number): Start {
  switch (caller.case) {
    case "key":
      return byKey(caller.value, readOnly, nowMs);
    case "chat": {
      const { chatId, callerId, testMode, hop } = caller.value;
      return { readOnly: caller.value.readOnly, testMode, chatId, callerId, injected: {}, hop };
    }
    case "scheduledTask": {
      const { chatId, taskId, testMode, hop } = caller.value;
      return { readOnly, testMode, chatId, callerId: taskId, injected: {}, hop };
    }
    case "hook":
      return byHook(caller.value, readOnly);
    default: {
      const { chatId, callerId, testMode } = caller.value;
      return { readOnly, testMode, chatId, callerId, injected: {}, hop: 1 };
    }
  }
}

function byKey({ keyId, keyName, ip }: KeyCaller, readOnly: boolean, nowMs: number): Start {
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

/** [LOOP-2] A hook's run always has hop 2, whatever hop the incoming request named. */
function byHook({ chatId, testMode, ...hook }: HookCaller, readOnly: boolean): Start {
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

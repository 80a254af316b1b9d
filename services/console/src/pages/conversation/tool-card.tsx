import { useQuery } from "@connectrpc/connect-query";
import { ChatLogService, ToolCallStatus } from "@toolgate/gen/toolgate/chat/v1/chat_log_pb";
import { useState } from "react";
import { failureOf } from "../../rpc/errors.ts";
import { useCanManage, useWorkspace } from "../../rpc/use-session.ts";
import { CONVERSATION } from "../../text/en/assistants/conversation.ts";
import { milliseconds } from "../../text/en/tools/runs.ts";
import { CodeBlock } from "../../ui/code/code-block.tsx";
import { indentJson } from "../../ui/code/indent-json.ts";
import { FailureText } from "../../ui/page/failure.tsx";
import { Status } from "../../ui/status.tsx";
import styles from "./conversation.module.css";
import type { ToolItem } from "./items.ts";

const STATES = {
  running: <Status tone="warn">{CONVERSATION.running}</Status>,
  succeeded: <Status tone="good">{CONVERSATION.succeeded}</Status>,
  failed: <Status tone="bad">{CONVERSATION.toolFailed}</Status>,
} as const;

const READ_AGAIN_AFTER_MS = 100;

/** A tool that the assistant calls: that it runs, and for managers what it was asked and what it answered. */
export function ToolCard({ chatId, call }: { chatId: string; call: ToolItem }) {
  const canManage = useCanManage();
  const [isOpen, setOpen] = useState(call.isLive);
  const head = (
    <>
      <code>{call.tool}</code>
      {STATES[call.state]}
      {call.durationMs !== undefined && <span className={styles.dim}>{milliseconds(call.durationMs)}</span>}
    </>
  );
  if (!canManage) return <p className={styles.tool}>{head}</p>;
  return (
    <details className={styles.tool} open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{head}</summary>
      {isOpen && <ToolCallBody chatId={chatId} call={call} />}
    </details>
  );
}

function ToolCallBody({ chatId, call: { id, state } }: { chatId: string; call: ToolItem }) {
  const workspace = useWorkspace();
  const request = { workspace, chatId, callId: id };
  const { data, error, refetch } = useQuery(ChatLogService.method.getToolCall, request, {
    gcTime: 0,
    // It has ended, but was read before.
    refetchInterval: ({ state: { data: read } }) =>
      state !== "running" && read?.call?.status === ToolCallStatus.RUNNING && READ_AGAIN_AFTER_MS,
  });
  if (error) return <FailureText failure={failureOf(error)} onRetry={() => void refetch()} />;
  const { args, result, status, suppressed = [] } = data?.call ?? {};
  return (
    <div className={styles.call}>
      <span>{CONVERSATION.arguments}</span>
      <CodeBlock label={CONVERSATION.arguments} text={indentJson(args ?? "")} />
      <span>{CONVERSATION.result}</span>
      {result ? (
        <CodeBlock label={CONVERSATION.result} text={indentJson(result)} />
      ) : (
        <p className={styles.dim}>{CONVERSATION.noResult}</p>
      )}
      {status === ToolCallStatus.UNKNOWN && <p>{CONVERSATION.unknown}</p>}
      {suppressed.length > 0 && <p>{CONVERSATION.suppressed(suppressed)}</p>}
    </div>
  );
}

import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { AssistantRunService, RunForHookRequest } from "@toolgate/gen/toolgate/chat/v1/assistant_run_pb";
import type { Handlers } from "@toolgate/service-host/handler";
import type { Context } from "../context.ts";
import { isReleasedForHooks, runsReadOnlyForHooks } from "../domain/assistants/exposure.ts";
import { hasEnded } from "../domain/turn.ts";
import { findDefinition } from "../store/assistants.ts";
import { findReply, findTurn, type TurnProgress } from "../store/turns/find.ts";
import type { TurnRef } from "../store/turns/start.ts";
import type { ChatOfOwner } from "../turns/turns.ts";

/** Shorter than inbound-hook's timeout. */
const RUN_WITHIN_MS = 540_000;
/** A hook's chat has one message, so all its calls are the same turn. */
const CLIENT_MESSAGE_ID = "hook";
const HOOK_HOP = 2;

export const assistantRunHandlers = {
  async checkAssistant({ pool }, { workspaceId, assistant }) {
    const definition = await findDefinition(pool, workspaceId, assistant);
    return { exists: definition !== undefined, released: isReleasedForHooks(definition) };
  },

  /** [IN-55..63] Everything that a hook causes has hop 2. */
  async runForHook(context, request, call) {
    const { workspaceId, chatId, hookId } = request;
    const chat = { workspaceId, chatId, owner: `hook:${hookId}` };
    const turn = await startTurn(context, request, chat);
    if (turn === "not-released") return NOT_RELEASED;
    const ended = await untilEnded(context, turn, chat, call);
    const { status, errorCode, errorMessage, durationMs } = ended;
    if (errorCode === "NOT_RELEASED") return NOT_RELEASED;
    if (status === "completed") {
      const reply = await findReply(context.pool, ended);
      return { outcome: { case: "reply", value: reply }, durationMs };
    }
    return { outcome: { case: "error", value: errorMessage || STOPPED }, durationMs };
  },
} satisfies Handlers<Context, typeof AssistantRunService>;

const NOT_RELEASED = { outcome: { case: "notReleased" as const, value: {} } };
const STOPPED = "The assistant was stopped before it had replied.";

async function startTurn(
  { pool, turns }: Context,
  { workspace, assistant, message }: RunForHookRequest,
  chat: ChatOfOwner,
): Promise<TurnRef | "not-released"> {
  const definition = await findDefinition(pool, chat.workspaceId, assistant);
  // [IN-58] [IN-59] Once the run has started, repeats of the call get its reply, even if the release has ended since.
  if (!isReleasedForHooks(definition) && !(await turns.find(chat))) return "not-released";
  const outcome = await turns.start({
    ...chat,
    lane: "hook",
    workspace,
    userId: chat.owner,
    message,
    assistant,
    clientMessageId: CLIENT_MESSAGE_ID,
    fileId: "",
    testMode: false,
    // [IN-56] [IN-57]
    readOnly: !definition || runsReadOnlyForHooks(definition),
    hop: HOOK_HOP,
  });
  if ("turn" in outcome) return outcome.turn;
  if (outcome.kind === "no-assistant") return "not-released";
  throw new ConnectError("chat_id: the chat is not this hook's", Code.InvalidArgument);
}

async function untilEnded(
  { pool, turns, stopping }: Context,
  turn: TurnRef,
  chat: ChatOfOwner,
  call: HandlerContext,
): Promise<TurnProgress> {
  const tooLong = AbortSignal.timeout(RUN_WITHIN_MS);
  const ended = await turns.untilEnded(turn, chat, AbortSignal.any([call.signal, stopping, tooLong]));
  if (ended) return ended;
  call.signal.throwIfAborted();
  // The caller repeats the call, and another process waits for the same turn.
  stopping.throwIfAborted();
  // It may have ended in the meantime.
  if (!(await turns.stop(chat))) {
    const late = await findTurn(pool, turn.id);
    if (late && hasEnded(late.status)) return late;
  }
  throw new ConnectError("the assistant did not reply in time", Code.DeadlineExceeded);
}

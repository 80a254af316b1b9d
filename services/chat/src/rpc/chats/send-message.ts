import { create } from "@bufbuild/protobuf";
import type { ConnectError, HandlerContext } from "@connectrpc/connect";
import {
  type ChatService,
  ReadMore,
  type SendMessageRequest,
  type StartTurnRequest,
  type TurnReceipt,
  TurnReceiptSchema,
} from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { Queryable } from "@toolgate/postgres/pool";
import { clientMessageIdFault, messageFault } from "@toolgate/rules/chat-message";
import type { Handlers } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { validate as isUuid } from "uuid";
import type { Context } from "../../context.ts";
import { BUILDER_NAME } from "../../domain/assistants/builder.ts";
import { chatBusy, forbidden, refusal } from "../../domain/chat-error.ts";
import { messageEvent } from "../../domain/chat-event.ts";
import { readEvents } from "../../store/events.ts";
import { findReply, type TurnProgress } from "../../store/turns/find.ts";
import type { TurnRef } from "../../store/turns/start.ts";
import { chatOf, refuse } from "./chats.ts";

const ASSISTANT = /^(?:[\w-]{0,64}|@builder)$/;
const CHAT_RESET = { code: "CHAT_RESET", message: "The chat was reset before the answer was complete." };

export const messageHandlers = {
  /** [CHAT-13] */
  async sendMessage(context, request, call) {
    const { pool, turns, stopping } = context;
    const signal = AbortSignal.any([call.signal, stopping]);
    const { turn } = await acceptMessage(context, request, call);
    const ended = await turns.untilEnded(turn, chatOf(call, request.chatId), signal);
    if (!ended) throw signal.reason;
    const { status, errorCode: code, errorMessage: message } = ended;
    if (status === "refused") throw chatBusy();
    if (status === "reset") return { error: CHAT_RESET };
    const receipt = await receiptOf(pool, ended);
    return code === "" ? { reply: await findReply(pool, ended), receipt } : { error: { code, message }, receipt };
  },

  /** [CHAT-16] The turn continues when its reader disconnects. */
  async startTurn(context, request, call) {
    const { isNew, turn } = await acceptMessage(context, request, call);
    const firstId = BigInt(turn.firstEventId);
    const hasBegun = isNew && firstId > 0n;
    const event = { id: firstId, event: messageEvent("user", request.message, context.now()) };
    const first = {
      events: hasBegun ? [event] : [],
      position: { turn: turn.id, afterEventId: hasBegun || firstId === 0n ? firstId : firstId - 1n },
      more: isNew ? ReadMore.LIVE : ReadMore.STORED,
    };
    return { first };
  },
} satisfies Handlers<Context, typeof ChatService>;

/** The receipt of the turn's last event; empty once the event has been deleted. */
async function receiptOf(db: Queryable, { id, chat, lastEventId }: TurnProgress): Promise<TurnReceipt> {
  const [last] = (await readEvents(db, chat, lastEventId - 1, { limit: 1, maxBytes: 0 })).events;
  const done = last?.turn === id && last.event.event.case === "done" ? last.event.event.value : undefined;
  return done?.receipt ?? create(TurnReceiptSchema);
}

interface AcceptedMessage {
  /** False: the same client message started the turn before. */
  isNew: boolean;
  turn: TurnRef;
}

/** Stores a user's message as a turn. Throws a refusal when it cannot start. */
async function acceptMessage(
  { turns }: Context,
  sent: StartTurnRequest | SendMessageRequest,
  call: HandlerContext,
): Promise<AcceptedMessage> {
  const { chatId, message, testMode, clientMessageId, fileId, assistant } = sent;
  const { workspace, userId, role } = principalOf(call);
  const chat = chatOf(call, chatId);
  refuse(messageFault(message));
  refuse(clientMessageIdFault(clientMessageId));
  if (fileId !== "" && !isUuid(fileId)) throw noFile();
  if (!ASSISTANT.test(assistant)) throw noAssistant(assistant);
  // [EXPO-2] It proposes what only managers may do.
  if (assistant === BUILDER_NAME && role === "member") throw noAssistant(assistant);
  const outcome = await turns.start({
    ...chat,
    lane: "chat",
    workspace,
    userId,
    message,
    assistant,
    clientMessageId,
    fileId,
    testMode,
    readOnly: false,
    hop: 1,
  });
  switch (outcome.kind) {
    case "started":
    case "joined":
      return { isNew: outcome.kind === "started", turn: outcome.turn };
    case "forbidden":
      throw forbidden();
    case "busy":
      throw chatBusy();
    case "no-assistant":
      throw noAssistant(assistant);
    case "no-file":
      throw noFile();
  }
}

function noAssistant(name: string): ConnectError {
  if (name === "") return refusal("NO_ASSISTANT", "This workspace has no default assistant.");
  return refusal("INVALID_PARAMETERS", "assistant: there is no such assistant");
}

function noFile(): ConnectError {
  return refusal("INVALID_FILE", "file: there is no such file, or another message has used it");
}

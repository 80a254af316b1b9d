import type { ConnectError, HandlerContext } from "@connectrpc/connect";
import type { SendMessageRequest, StartTurnRequest } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { clientMessageIdFault, messageFault } from "@toolgate/rules/chat-message";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { BUILDER_NAME } from "../../domain/assistants/builder.ts";
import { chatBusy, forbidden, refusal } from "../../domain/chat-error.ts";
import type { TurnRef } from "../../store/turns/start.ts";
import { chatOf, refuse } from "./chat-of.ts";

interface AcceptedMessage {
  /** False: the same client message started the turn before. */
  isNew: boolean;
  turn: TurnRef;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const ASSISTANT = /^(?:[\w-]{0,64}|@builder)$/;

/** Stores a user's message as a turn. Throws a refusal when it cannot start. */
export async function acceptMessage(
  { turns }: Context,
  sent: StartTurnRequest | SendMessageRequest,
  call: HandlerContext,
): Promise<AcceptedMessage> {
  const { chatId, message, testMode, clientMessageId, fileId, assistant } = sent;
  const { workspace, userId, role } = principalOf(call);
  const chat = chatOf(call, chatId);
  refuse(messageFault(message));
  refuse(clientMessageIdFault(clientMessageId));
  if (fileId !== "" && !UUID.test(fileId)) throw noFile();
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

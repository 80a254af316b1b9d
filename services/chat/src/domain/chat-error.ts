import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorEventSchema } from "@toolgate/gen/toolgate/chat/v1/chat_pb";

/** Why a request of a chat is refused, as clients see it. */
const CODES = {
  INVALID_PARAMETERS: Code.InvalidArgument,
  CHAT_BUSY: Code.ResourceExhausted,
  NO_ASSISTANT: Code.FailedPrecondition,
  FILE_TOO_LARGE: Code.InvalidArgument,
  INVALID_FILE: Code.InvalidArgument,
  TOO_MANY_FILES: Code.ResourceExhausted,
} as const;

/** [CHAT-53] A refusal with a code and a message for people. */
export function refusal(code: keyof typeof CODES, message: string): ConnectError {
  return new ConnectError(message, CODES[code], undefined, [{ desc: ErrorEventSchema, value: { code, message } }]);
}

export function chatBusy(): ConnectError {
  return refusal("CHAT_BUSY", "Earlier messages of this chat are still being answered. Please try again later.");
}

/** [CHAT-50] The same whether the chat exists or not. */
export function forbidden(): ConnectError {
  return new ConnectError("this chat belongs to another user", Code.PermissionDenied);
}

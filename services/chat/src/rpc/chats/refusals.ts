import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorEventSchema } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { ChatRefusal, type RefusalCode } from "../../domain/chat-error.ts";

const CODES: Readonly<Record<RefusalCode, Code>> = {
  INVALID_PARAMETERS: Code.InvalidArgument,
  CHAT_BUSY: Code.ResourceExhausted,
  NO_ASSISTANT: Code.FailedPrecondition,
  FILE_TOO_LARGE: Code.InvalidArgument,
  INVALID_FILE: Code.InvalidArgument,
  TOO_MANY_FILES: Code.ResourceExhausted,
};

/** [CHAT-50] The same whether the chat exists or not. */
export const FORBIDDEN = "this chat belongs to another user";

export function forbidden(): ConnectError {
  return new ConnectError(FORBIDDEN, Code.PermissionDenied);
}

/** A refusal as an RPC error that carries its code and message; any other error as it is. */
export function rpcError(error: unknown): unknown {
  if (!(error instanceof ChatRefusal)) return error;
  const { code, message } = error;
  return new ConnectError(message, CODES[code], undefined, [{ desc: ErrorEventSchema, value: { code, message } }]);
}

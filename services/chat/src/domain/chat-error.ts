/** Why a request of a chat is refused, as clients see it. */
export type RefusalCode =
  | "INVALID_PARAMETERS"
  | "CHAT_BUSY"
  | "NO_ASSISTANT"
  | "FILE_TOO_LARGE"
  | "INVALID_FILE"
  | "TOO_MANY_FILES";

/** [CHAT-53] A refusal with a code and a message for people. */
export class ChatRefusal extends Error {
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.name = "ChatRefusal";
    this.code = code;
  }
}

export const CHAT_BUSY_MESSAGE = "Earlier messages of this chat are still being answered. Please try again later.";

/** What a chat request may contain, for the gateway, which responds to people, and for chat, which stores it. */

const MAX_MESSAGE_CHARACTERS = 32_000;
const MAX_CLIENT_MESSAGE_ID_CHARACTERS = 255;
export const MAX_FILE_BYTES = 20 * 1024 * 1024;
export const MAX_FILE_NAME_CHARACTERS = 255;
export const MAX_PAGE = 1000;

const CHAT_ID = /^[A-Za-z0-9_.:-]{1,128}$/;
/** Ids that Toolgate itself gives to runs of API keys and to chats of hooks. */
const RESERVED = /^(?:apikey_|hook_)/;
const VISIBLE = /^[!-~]*$/;

/** [CHAT-5] Why a chat_id is not valid; undefined when it is. */
export function chatIdFault(chatId: string): string | undefined {
  if (!CHAT_ID.test(chatId)) return "chat_id: 1 to 128 of A-Z a-z 0-9 _ . : -";
  return RESERVED.test(chatId) ? "chat_id: must not begin with apikey_ or hook_" : undefined;
}

/** [CHAT-8] Why a message is not valid; undefined when it is. */
export function messageFault(message: string): string | undefined {
  if (message.trim() === "") return "message: is missing or blank";
  if (message.length > MAX_MESSAGE_CHARACTERS) return `message: at most ${MAX_MESSAGE_CHARACTERS} characters`;
  return message.includes("\0") ? "message: NUL is not allowed" : undefined;
}

/** Why the client's own id of a message is not valid; undefined when it is. Empty: none. */
export function clientMessageIdFault(id: string): string | undefined {
  if (id.length <= MAX_CLIENT_MESSAGE_ID_CHARACTERS && VISIBLE.test(id)) return undefined;
  return `client_message_id: at most ${MAX_CLIENT_MESSAGE_ID_CHARACTERS} visible ASCII characters`;
}

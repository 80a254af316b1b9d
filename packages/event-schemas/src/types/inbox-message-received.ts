import { type EventType, object } from "../event-type.ts";
import { channel, chatId, exampleMessage, inboxMessage } from "./inbox-message.ts";

/** [EVT-10] [EVT-37] [EVT-38] */
export const inboxMessageReceived: EventType = {
  type: "inbox.message.received",
  sent: "A customer's message came in to the inbox, the first one of a thread too; not for widget chats.",
  data: object({
    thread: object({
      chat_id: chatId(),
      channel: channel(),
      is_new: { type: "boolean", description: "The message is the first of its thread." },
    }),
    message: inboxMessage,
  }),
  example: {
    thread: { chat_id: "email:ada@example.com:7731", channel: "email", is_new: false },
    message: exampleMessage,
  },
};

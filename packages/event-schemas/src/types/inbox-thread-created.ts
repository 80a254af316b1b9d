import { choice, type EventType, object } from "../event-type.ts";
import { channel, chatId, exampleMessage, inboxMessage } from "./inbox-message.ts";

/** [EVT-9] [EVT-33] [EVT-34] */
export const inboxThreadCreated: EventType = {
  type: "inbox.thread.created",
  sent: "The first message of a new inbox thread came in, by e-mail or a messaging channel; not for widget chats.",
  data: object({
    thread: object({
      chat_id: chatId(),
      channel: channel(),
      status: choice("Status of the thread.", "open", "waiting", "snoozed", "resolved"),
    }),
    first_message: inboxMessage,
  }),
  example: {
    thread: { chat_id: "email:ada@example.com:7731", channel: "email", status: "open" },
    first_message: exampleMessage,
  },
};

import { type EventType, object, reportedAs } from "../event-type.ts";
import { channel, chatId, exampleMessage, exampleReport, inboxMessage, receivedMessage } from "./inbox.ts";

/** [EVT-10] [EVT-37] [EVT-38] */
export const inboxMessageReceived: EventType = {
  type: "inbox.message.received",
  sent: "A customer's message arrived in the inbox, including the first one of a thread; not for widget chats.",
  hasSource: false,
  data: object({
    thread: object({
      chat_id: chatId,
      channel,
      is_new: { type: "boolean", description: "The message is the first of its thread." },
    }),
    message: inboxMessage,
  }),
  example: {
    thread: { chat_id: "email:ada@example.com:7731", channel: "email", is_new: false },
    message: exampleMessage,
  },
  report: reportedAs(
    "inboxMessageReceived",
    (report) => {
      const received = receivedMessage(report);
      if (typeof received === "number") return received;
      const { isNew, thread, message } = received;
      return { thread: { ...thread, is_new: isNew }, message };
    },
    exampleReport(false),
  ),
};

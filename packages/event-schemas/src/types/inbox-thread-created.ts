import { type EventType, object, reportedAs } from "../event-type.ts";
import {
  channel,
  chatId,
  exampleMessage,
  exampleReport,
  inboxMessage,
  receivedMessage,
  threadStatus,
} from "./inbox.ts";

/** [EVT-9] [EVT-33] [EVT-34] */
export const inboxThreadCreated: EventType = {
  type: "inbox.thread.created",
  sent: "The first message of a new inbox thread arrived, by email or a messaging channel; not for widget chats.",
  hasSource: false,
  data: object({
    thread: object({ chat_id: chatId, channel, status: threadStatus("Status of the thread.") }),
    first_message: inboxMessage,
  }),
  example: {
    thread: { chat_id: "email:ada@example.com:7731", channel: "email", status: "open" },
    first_message: exampleMessage,
  },
  report: reportedAs(
    "inboxMessageReceived",
    (report) => {
      const received = receivedMessage(report);
      if (typeof received === "number") return received;
      const { isNew, status, thread, message } = received;
      return isNew ? { thread: { ...thread, status }, first_message: message } : undefined;
    },
    exampleReport(true),
  ),
};

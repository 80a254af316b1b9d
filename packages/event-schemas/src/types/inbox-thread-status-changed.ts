import { choice, type EventType, object } from "../event-type.ts";
import { channel, chatId } from "./inbox-message.ts";

const STATUSES = ["open", "waiting", "snoozed", "resolved"];

/** [EVT-11] [EVT-44] [EVT-45] [EVT-46] */
export const inboxThreadStatusChanged: EventType = {
  type: "inbox.thread.status_changed",
  sent: "A thread was resolved, is waiting for the customer, was snoozed or reopened.",
  data: object({
    chat_id: chatId(),
    channel: channel(),
    previous_status: choice("Status before.", ...STATUSES),
    status: choice("Status now.", ...STATUSES),
    source: choice(
      "Who or what changed it; customer_reply when the customer answered a resolved, waiting or snoozed thread.",
      "user",
      "auto_resolve",
      "customer_reply",
      "snooze_ended",
      "commslayer_sync",
      "system",
    ),
  }),
  example: {
    chat_id: "email:ada@example.com:7731",
    channel: "email",
    previous_status: "waiting",
    status: "open",
    source: "customer_reply",
  },
};

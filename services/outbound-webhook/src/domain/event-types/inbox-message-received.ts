import type { InboxMessageReceived } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { present } from "./field.ts";
import type { Happening } from "./happening.ts";
import { channelOf, chatIdOf, messageData } from "./inbox-message.ts";
import { statusOf } from "./thread-status.ts";

/** [EVT-20] The channel of chats on a web page. */
const WIDGET_CHANNEL = "widget";

/** [EVT-9] [EVT-10] The first message of a thread is both events. [EVT-20] One of a widget chat is none. */
export function inboxMessageReceived(report: InboxMessageReceived): Happening {
  const thread = present(report.thread, "thread");
  const channel = channelOf(thread.channel, "thread.channel");
  if (channel === WIDGET_CHANNEL) return { notSent: "widget-chat" };
  const status = statusOf(thread.status, "thread.status");
  const chat_id = chatIdOf(thread.chatId, channel, "thread.chat_id");
  const message = messageData(report.message, channel);
  const received = {
    type: "inbox.message.received",
    data: { thread: { chat_id, channel, is_new: thread.isNew }, message },
  };
  if (!thread.isNew) return { events: [received] };
  const created = {
    type: "inbox.thread.created",
    data: { thread: { chat_id, channel, status }, first_message: message },
  };
  return { events: [created, received] };
}

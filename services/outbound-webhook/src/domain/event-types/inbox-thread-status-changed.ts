import { type InboxThreadStatusChanged, StatusSource } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { InvalidField, oneOf } from "./field.ts";
import type { Happening } from "./happening.ts";
import { channelOf, chatIdOf } from "./inbox-message.ts";
import { statusOf } from "./thread-status.ts";

/** [EVT-46] */
const SOURCES: Readonly<Record<number, string>> = {
  [StatusSource.USER]: "user",
  [StatusSource.AUTO_RESOLVE]: "auto_resolve",
  [StatusSource.CUSTOMER_REPLY]: "customer_reply",
  [StatusSource.SNOOZE_ENDED]: "snooze_ended",
  [StatusSource.COMMSLAYER_SYNC]: "commslayer_sync",
  [StatusSource.SYSTEM]: "system",
};

/** [EVT-11] [EVT-44] [EVT-21] [EVT-22] A change of anything but the status is not sent. */
export function inboxThreadStatusChanged(report: InboxThreadStatusChanged): Happening {
  const channel = channelOf(report.channel, "channel");
  const chat_id = chatIdOf(report.chatId, channel, "chat_id");
  const previous_status = statusOf(report.previousStatus, "previous_status");
  const status = statusOf(report.status, "status");
  const source = oneOf(report.source, SOURCES, "source");
  if (status === previous_status) return { notSent: "status-unchanged" };
  // [EVT-47]
  if (source === "customer_reply" && previous_status === "open") {
    throw new InvalidField("source", "customer_reply is for a thread that was resolved, waiting or snoozed");
  }
  const data = { chat_id, channel, previous_status, status, source };
  return { events: [{ type: "inbox.thread.status_changed", data }] };
}

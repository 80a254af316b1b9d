import { NotSentReason, StatusSource, ThreadStatus } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { choice, type EventType, object, reportedAs } from "../event-type.ts";
import { InvalidField, nameOf } from "../fields.ts";
import { channel, channelOf, chatId, chatIdOf, statusOf, threadStatus } from "./inbox.ts";

/** [EVT-11] [EVT-44] [EVT-45] [EVT-46] */
export const inboxThreadStatusChanged: EventType = {
  type: "inbox.thread.status_changed",
  sent: "A thread was resolved, set to wait for the customer, snoozed or reopened.",
  hasSource: false,
  data: object({
    chat_id: chatId,
    channel,
    previous_status: threadStatus("Status before."),
    status: threadStatus("Status now."),
    source: choice(
      "Who or what changed it; customer_reply when the customer replied to a resolved, waiting or snoozed thread.",
      StatusSource,
    ),
  }),
  example: {
    chat_id: "email:ada@example.com:7731",
    channel: "email",
    previous_status: "waiting",
    status: "open",
    source: "customer_reply",
  },
  report: reportedAs(
    "inboxThreadStatusChanged",
    (report) => {
      const channelName = channelOf(report.channel, "channel");
      const chat_id = chatIdOf(report.chatId, channelName, "chat_id");
      const previous_status = statusOf(report.previousStatus, "previous_status");
      const status = statusOf(report.status, "status");
      const source = nameOf(StatusSource, report.source, "source");
      // No event is sent when anything else changes. [EVT-21] [EVT-22]
      if (status === previous_status) return NotSentReason.STATUS_UNCHANGED;
      // [EVT-47]
      if (source === "customer_reply" && previous_status === "open") {
        throw new InvalidField("source", "customer_reply is for a thread that was resolved, waiting or snoozed");
      }
      return { chat_id, channel: channelName, previous_status, status, source };
    },
    {
      chatId: "email:ada@example.com:7731",
      channel: "email",
      previousStatus: ThreadStatus.WAITING,
      status: ThreadStatus.OPEN,
      source: StatusSource.CUSTOMER_REPLY,
    },
  ),
};

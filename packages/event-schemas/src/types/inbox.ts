import {
  type InboxAttachment,
  type InboxMessage,
  type InboxMessageReceived,
  NotSentReason,
  ThreadStatus,
} from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { choice, type EventData, type JsonSchema, object, text } from "../event-type.ts";
import { cut, InvalidField, line, nameOf, present, withOffset } from "../fields.ts";
import { plainText } from "../plain-text.ts";

/** Longest text of a message, in Unicode code points. [EVT-41] */
const MAX_TEXT_CHARS = 10_000;
const MAX_UTF16_UNITS_PER_CHAR = 2;
const MAX_ID_CHARS = 500;
const MAX_ADDRESS_CHARS = 320;
const MAX_LINE_CHARS = 1_000;
const MAX_FILENAME_CHARS = 255;
const MAX_CHAT_ID_CHARS = 1_000;
const MAX_ATTACHMENTS = 50;

const CHANNEL = /^[a-z][a-z0-9_-]{0,31}$/;
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,63}\/[\w!#$&^.+-]{1,63}$/;
const ISO_WITH_OFFSET = "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?[+-]\\d\\d:\\d\\d$";

/** The channel of chats on a web page, which are not part of the inbox. [EVT-20] */
const WIDGET_CHANNEL = "widget";

/** [EVT-42] */
export const chatId: JsonSchema = {
  type: "string",
  pattern: "^[a-z][a-z0-9_-]*:[^:]+(:.+)?$",
  description: "<channel>:<address_or_number>[:<id>]",
};

/** [EVT-43] */
export const channel: JsonSchema = {
  type: "string",
  pattern: "^[a-z][a-z0-9_-]*$",
  description: "email, whatsapp, sms or another channel.",
};

/** [EVT-45] */
export function threadStatus(description: string): JsonSchema {
  return choice(description, ThreadStatus);
}

const attachment = object({
  filename: text("Name of the file."),
  mimetype: text("Media type, such as application/pdf."),
  size: { type: "integer", minimum: 0, description: "Bytes." },
});

/** [EVT-34] [EVT-35] [EVT-39] */
export const inboxMessage: JsonSchema = object({
  id: text("Id of the message."),
  channel,
  subject: { type: ["string", "null"], description: "Null on channels without subjects." },
  from: object({ name: text("May be empty."), address: text("Email address or number.") }),
  text: { type: "string", maxLength: MAX_TEXT_CHARS, description: "Plain text, cut after 10000 characters." },
  received_at: {
    type: "string",
    format: "date-time",
    pattern: ISO_WITH_OFFSET,
    description: "ISO 8601 with offset.",
  },
  attachments: { type: "array", items: attachment, description: "Described only; their content is never sent." },
});

export const exampleMessage = {
  id: "msg_20481",
  channel: "email",
  subject: "Where is my order?",
  from: { name: "Ada Example", address: "ada@example.com" },
  text: "Hello,\n\nmy order A-1001 has not arrived yet.",
  received_at: "2026-11-21T09:13:18+01:00",
  attachments: [{ filename: "invoice.pdf", mimetype: "application/pdf", size: 48211 }],
};

/** A report of the example message, as the first or a later one of its thread. */
export function exampleReport(isNew: boolean) {
  const { id, subject, from, received_at, attachments } = exampleMessage;
  return {
    thread: { chatId: "email:ada@example.com:7731", channel: "email", status: ThreadStatus.OPEN, isNew },
    message: {
      id,
      subject,
      from,
      body: { case: "html" as const, value: "<p>Hello,</p><p>my order <b>A-1001</b> has not arrived yet.</p>" },
      receivedAt: received_at,
      attachments: attachments.map((file) => ({ ...file, size: BigInt(file.size) })),
    },
  };
}

export function channelOf(value: string, field: string): string {
  if (CHANNEL.test(value)) return value;
  throw new InvalidField(field, "must be 1 to 32 of a-z 0-9 _ -, starting with a letter");
}

export function chatIdOf(value: string, channelName: string, field: string): string {
  const id = line(value, field, MAX_CHAT_ID_CHARS);
  const rest = id.startsWith(`${channelName}:`) ? id.slice(channelName.length + 1) : "";
  if (/^[^:]+(:.+)?$/.test(rest)) return id;
  throw new InvalidField(field, "must be <channel>:<address_or_number>[:<id>]");
}

export function statusOf(value: ThreadStatus, field: string): string {
  return nameOf(ThreadStatus, value, field);
}

/** The parts that both events of a message share; widget chats send neither. [EVT-20] */
export function receivedMessage(report: InboxMessageReceived) {
  const thread = present(report.thread, "thread");
  const channelName = channelOf(thread.channel, "thread.channel");
  if (channelName === WIDGET_CHANNEL) return NotSentReason.WIDGET_CHAT;
  return {
    isNew: thread.isNew,
    status: statusOf(thread.status, "thread.status"),
    thread: { chat_id: chatIdOf(thread.chatId, channelName, "thread.chat_id"), channel: channelName },
    message: messageData(present(report.message, "message"), channelName),
  };
}

function messageData(
  { id, subject, from, body, receivedAt, attachments }: InboxMessage,
  channelName: string,
): EventData {
  const sender = present(from, "message.from");
  return {
    id: line(id, "message.id", MAX_ID_CHARS),
    channel: channelName,
    subject: subject === undefined ? null : cut(subject, MAX_LINE_CHARS),
    from: {
      name: cut(sender.name, MAX_LINE_CHARS),
      address: line(sender.address, "message.from.address", MAX_ADDRESS_CHARS),
    },
    text: textOf(body),
    received_at: withOffset(receivedAt, "message.received_at"),
    attachments: attachments.slice(0, MAX_ATTACHMENTS).map(attachmentData),
  };
}

/** [EVT-40] [EVT-41] */
function textOf(body: InboxMessage["body"]): string {
  if (body.case !== "html") return cut(body.value ?? "", MAX_TEXT_CHARS);
  return cut(plainText(body.value, MAX_TEXT_CHARS * MAX_UTF16_UNITS_PER_CHAR), MAX_TEXT_CHARS);
}

/** [EVT-35] [EVT-36] */
function attachmentData({ filename, mimetype, size }: InboxAttachment, index: number): EventData {
  if (size > Number.MAX_SAFE_INTEGER) throw new InvalidField(`message.attachments[${index}].size`, "too large");
  return {
    filename: cut(filename, MAX_FILENAME_CHARS),
    mimetype: MEDIA_TYPE.test(mimetype) ? mimetype : "application/octet-stream",
    size: Number(size),
  };
}

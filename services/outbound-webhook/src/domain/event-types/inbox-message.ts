import { MAX_TEXT_CHARS } from "@toolgate/event-schemas/types/inbox-message";
import type { InboxAttachment, InboxMessage } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { cut, InvalidField, line, present, withOffset } from "./field.ts";
import { plainText } from "./plain-text.ts";

const MAX_ID_CHARS = 500;
const MAX_ADDRESS_CHARS = 320;
const MAX_LINE_CHARS = 1_000;
const MAX_FILENAME_CHARS = 255;
const MAX_CHAT_ID_CHARS = 1_000;
const MAX_ATTACHMENTS = 50;
const MAX_UNITS_PER_CHAR = 2;

const CHANNEL = /^[a-z][a-z0-9_-]{0,31}$/;
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,63}\/[\w!#$&^.+-]{1,63}$/;
const ANY_BYTES = "application/octet-stream";

/** [EVT-43] */
export function channelOf(value: string, field: string): string {
  if (!CHANNEL.test(value)) throw new InvalidField(field, "1 to 32 of a-z 0-9 _ - that begin with a letter");
  return value;
}

/** [EVT-42] `<channel>:<address_or_number>[:<id>]` */
export function chatIdOf(value: string, channel: string, field: string): string {
  const chatId = line(value, field, MAX_CHAT_ID_CHARS);
  const rest = chatId.startsWith(`${channel}:`) ? chatId.slice(channel.length + 1) : "";
  if (!/^[^:]+(:.+)?$/.test(rest)) throw new InvalidField(field, "is not <channel>:<address_or_number>[:<id>]");
  return chatId;
}

/** [EVT-34..41] The member `first_message` or `message`. */
export function messageData(message: InboxMessage | undefined, channel: string): Record<string, unknown> {
  const { id, subject, from, body, receivedAt, attachments } = present(message, "message");
  const sender = present(from, "message.from");
  return {
    id: line(id, "message.id", MAX_ID_CHARS),
    channel,
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

/** [EVT-40] [EVT-41] Plain text first, then the cut, without a marker. */
function textOf(body: InboxMessage["body"]): string {
  if (body.case === "html") return cut(plainText(body.value, MAX_TEXT_CHARS * MAX_UNITS_PER_CHAR), MAX_TEXT_CHARS);
  return cut(body.value ?? "", MAX_TEXT_CHARS);
}

/** [EVT-35] [EVT-36] */
function attachmentData({ filename, mimetype, size }: InboxAttachment, index: number): Record<string, unknown> {
  if (size > Number.MAX_SAFE_INTEGER) throw new InvalidField(`message.attachments[${index}].size`, "is too large");
  return {
    filename: cut(filename, MAX_FILENAME_CHARS),
    mimetype: MEDIA_TYPE.test(mimetype) ? mimetype : ANY_BYTES,
    size: Number(size),
  };
}

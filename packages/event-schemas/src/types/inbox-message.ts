import { type JsonSchema, object, text } from "../event-type.ts";

/** Longest text of a message, in characters (Unicode code points). [EVT-41] */
export const MAX_TEXT_CHARS = 10_000;

/** ISO 8601 with a numeric offset. */
const WITH_OFFSET = "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?[+-]\\d\\d:\\d\\d$";

const attachment = object({
  filename: text("Name of the file."),
  mimetype: text("Media type, such as application/pdf."),
  size: { type: "integer", minimum: 0, description: "Bytes." },
});

/** A customer's message. [EVT-34] [EVT-35] [EVT-39] */
export const inboxMessage: JsonSchema = object({
  id: text("Id of the message."),
  channel: channel(),
  subject: { type: ["string", "null"], description: "Null on channels without subjects." },
  from: object({ name: text("May be empty."), address: text("E-mail address or number.") }),
  text: { type: "string", maxLength: MAX_TEXT_CHARS, description: "Plain text, cut after 10000 characters." },
  received_at: {
    type: "string",
    format: "date-time",
    pattern: WITH_OFFSET,
    description: "ISO 8601 with offset.",
  },
  attachments: { type: "array", items: attachment, description: "Described only; their content is never sent." },
});

/** [EVT-42] */
export function chatId(): JsonSchema {
  return {
    type: "string",
    pattern: "^[a-z][a-z0-9_-]*:[^:]+(:.+)?$",
    description: "<channel>:<address_or_number>[:<id>]",
  };
}

/** [EVT-43] */
export function channel(): JsonSchema {
  return { type: "string", pattern: "^[a-z][a-z0-9_-]*$", description: "email for e-mail; whatsapp, sms and others." };
}

/** A message as it is sent. */
export const exampleMessage = {
  id: "msg_20481",
  channel: "email",
  subject: "Where is my order?",
  from: { name: "Ada Example", address: "ada@example.com" },
  text: "Hello,\n\nmy order A-1001 has not arrived yet.",
  received_at: "2026-11-21T09:13:18+01:00",
  attachments: [{ filename: "invoice.pdf", mimetype: "application/pdf", size: 48211 }],
};

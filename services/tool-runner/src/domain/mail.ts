import { isJsonObject } from "@toolgate/rules/json-object";
import type { Email } from "@toolgate/service-host/mailer";

const MAX_RECIPIENTS = 20;
const MAX_SUBJECT_CHARS = 500;
const MAX_BODY_CHARS = 256 * 1024;
const MAX_ADDRESS_CHARS = 254;
const ADDRESS = /^[^\s@<>,;:"()[\]\\\p{Cc}]+@[^\s@<>,;:"()[\]\\\p{Cc}]+$/u;
const CONTROL_CHARS = /\p{Cc}/u;

/** Reads the argument of sendMail: plain addresses, and no headers. Throws a RangeError for the tool. */
export function readEmail(value: unknown): Email {
  if (!isJsonObject(value)) throw new RangeError("the email must be an object with to, subject and text");
  const { to: sentTo, subject, text, html, ...others } = value;
  const [extra] = Object.keys(others);
  if (extra !== undefined) throw new RangeError(`${extra} is not a member of an email`);
  const to = [sentTo].flat();
  if (to.length === 0 || to.length > MAX_RECIPIENTS) throw new RangeError(`to: 1 to ${MAX_RECIPIENTS} addresses`);
  if (!to.every(isAddress)) throw new RangeError("to: must be addresses like name@host");
  if (typeof subject !== "string" || subject.length > MAX_SUBJECT_CHARS || CONTROL_CHARS.test(subject)) {
    throw new RangeError(`subject: one line of at most ${MAX_SUBJECT_CHARS} characters`);
  }
  if (!isBody(text)) throw new RangeError(`text: at most ${MAX_BODY_CHARS} characters`);
  if (html === undefined) return { to, subject, text };
  if (!isBody(html)) throw new RangeError(`html: at most ${MAX_BODY_CHARS} characters`);
  return { to, subject, text, html };
}

function isAddress(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_ADDRESS_CHARS && ADDRESS.test(value);
}

function isBody(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_BODY_CHARS;
}

import { chatIdFault, clientMessageIdFault, MAX_PAGE, messageFault } from "@toolgate/rules/chat-message";
import { parseInstant } from "./instant.ts";

const FLAGS = new Map<unknown, boolean>([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);
/** More than any event id. */
const COUNTER = /^\d{1,15}$/;

/** Reads the parameters of a chat request, and keeps the first fault. */
export class ParameterReader {
  fault: string | undefined;
  /** The workspace's code, once the chat's id is read; also when there is a fault. */
  tenant = "";
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #isText: boolean;

  /** `isText`: from a query or a form, where every value is text. */
  constructor(values: Readonly<Record<string, unknown>>, { isText }: { isText: boolean }) {
    this.#values = values;
    this.#isText = isText;
  }

  /** [CHAT-5] [CHAT-7] The chat's id, after the workspace. */
  chatId(): string {
    this.tenant = this.text("tenant");
    if (this.tenant === "") this.check("tenant: missing");
    const chatId = this.text("chat_id");
    this.check(chatId === "" ? "chat_id: missing" : chatIdFault(chatId));
    return chatId;
  }

  /** Empty when it is absent. */
  text(name: string): string {
    const value = this.#values[name];
    if (value === undefined || value === null) return "";
    if (typeof value === "string") return value;
    this.check(`${name}: must be one string`);
    return "";
  }

  /** [CHAT-9] Undefined when it is absent. */
  flag(name: string): boolean | undefined {
    const value = this.#values[name];
    if (value === undefined || value === null || (this.#isText && value === "")) return undefined;
    const flag = this.#isText ? FLAGS.get(value) : value;
    if (typeof flag === "boolean") return flag;
    this.check(this.#isText ? `${name}: must be true, false, 1 or 0` : `${name}: must be true or false`);
    return undefined;
  }

  /** A whole number that is not negative; undefined when it is absent. */
  counter(name: string): number | undefined {
    const value = this.text(name);
    if (value === "") return undefined;
    if (COUNTER.test(value)) return Number(value);
    this.check(`${name}: must be a whole number`);
    return undefined;
  }

  check(fault: string | undefined): void {
    this.fault ??= fault;
  }

  /** Whether the request has a parameter of this name. */
  has(name: string): boolean {
    return this.#values[name] !== undefined;
  }
}

/** A message that a user sends. */
export interface SentMessage {
  chatId: string;
  message: string;
  testMode: boolean;
  clientMessageId: string;
  assistant: string;
}

/** A message whose answer is streamed. */
export interface StreamedMessage extends SentMessage {
  /** For a client that joins its turn again: only events with a higher id. */
  after: number;
}

export function streamedMessage(reader: ParameterReader, idempotencyKey: string): StreamedMessage {
  const after = reader.counter("after_event_id") ?? 0;
  return { ...sentMessage(reader, idempotencyKey), after };
}

/** `idempotencyKey`: of the header, for requests without client_message_id. */
export function sentMessage(reader: ParameterReader, idempotencyKey: string): SentMessage {
  const chatId = reader.chatId();
  const message = reader.text("message");
  reader.check(messageFault(message));
  const testMode = reader.flag("test_mode") ?? false;
  const clientMessageId = reader.text("client_message_id") || idempotencyKey;
  reader.check(clientMessageIdFault(clientMessageId));
  // A protobuf string cannot contain half a surrogate pair.
  return { chatId, message: message.toWellFormed(), testMode, clientMessageId, assistant: reader.text("assistant") };
}

/** From where a client resumes: an event id, or else a point in time. */
export interface ResumePoint {
  chatId: string;
  after: number | undefined;
  since: Date | undefined;
  replayOnly: boolean;
}

/** [CHAT-17] [CHAT-19] [CHAT-20] The header wins over the query, and an id over the time. */
export function resumePoint(reader: ParameterReader, lastEventIdHeader: string | undefined): ResumePoint {
  const chatId = reader.chatId();
  const after = eventCounter(reader, lastEventIdHeader);
  const given = reader.text("since");
  const since = given === "" ? undefined : parseInstant(given);
  if (given !== "" && !since) reader.check("since: must be a timestamp in ISO 8601");
  if (given === "" && after === undefined) reader.check("since: missing");
  const follow = reader.flag("follow") ?? true;
  return { chatId, after, since, replayOnly: !follow };
}

/** [CHAT-21] A header that is not a number is ignored. */
export function eventCounter(reader: ParameterReader, header: string | undefined): number | undefined {
  const inQuery = reader.counter("last_event_id");
  return header !== undefined && COUNTER.test(header) ? Number(header) : inQuery;
}

export function historyPage(reader: ParameterReader) {
  const chatId = reader.chatId();
  const before = reader.counter("before");
  const limit = reader.counter("limit");
  if (limit !== undefined && (limit < 1 || limit > MAX_PAGE)) reader.check(`limit: must be from 1 to ${MAX_PAGE}`);
  return { chatId, before, limit, assistant: reader.text("assistant") };
}

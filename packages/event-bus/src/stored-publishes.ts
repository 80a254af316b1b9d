import { JetStreamApiError } from "@nats-io/jetstream";
import {
  createInbox,
  errors,
  headers,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  type PermissionViolationError,
} from "@nats-io/transport-node";

/** A message for a stream. */
export interface StoredMessage {
  subject: string;
  data: Uint8Array;
  /** The broker stores a message with the id of an earlier one only once. */
  id: string;
  headers?: MsgHdrs | undefined;
}

interface Publish {
  subject: string;
  deadlineMs: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}

const SWEEP_EVERY_MS = 100;
const NO_RESPONDERS = 503;

/**
 * Publishes messages and waits until the broker has stored them. All acknowledgements of a connection come to one inbox:
 * a request of the client's library for each message, which has a timer, and an error with a stack trace even if it
 * succeeds, takes a tenth of a tool call's time.
 */
export class StoredPublishes {
  readonly #nc: NatsConnection;
  readonly #inbox: string;
  readonly #publishes = new Map<string, Publish>();
  #count = 0;
  #sweep: NodeJS.Timeout | undefined;

  constructor(nc: NatsConnection, inboxPrefix: string | undefined) {
    this.#nc = nc;
    this.#inbox = `${createInbox(inboxPrefix)}.`;
    nc.subscribe(`${this.#inbox}*`, {
      callback: (error, message) => (error ? this.rejectAll(error) : this.#settle(message)),
    });
  }

  /**
   * Resolves once the broker has stored the message. Rejects if it refuses to, if the connection breaks, or when there was
   * no acknowledgement for `timeoutMs`.
   */
  async publish({ subject, data, id, headers: given }: StoredMessage, timeoutMs: number): Promise<void> {
    const sent = given ?? headers();
    sent.set("Nats-Msg-Id", id);
    this.#count += 1;
    const token = this.#count.toString(36);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#nc.publish(subject, data, { reply: this.#inbox + token, headers: sent });
    this.#publishes.set(token, { subject, deadlineMs: performance.now() + timeoutMs, resolve, reject });
    this.#sweep ??= setInterval(() => this.#rejectLate(), SWEEP_EVERY_MS);
    return promise;
  }

  /** No acknowledgement of an earlier message will come. */
  rejectAll(error: unknown): void {
    for (const publish of this.#publishes.values()) publish.reject(error);
    this.#publishes.clear();
  }

  /** The broker says only which subject it refused. */
  rejectRefused(error: PermissionViolationError): void {
    for (const [token, publish] of this.#publishes) {
      if (publish.subject !== error.subject) continue;
      this.#publishes.delete(token);
      publish.reject(error);
    }
  }

  #settle(message: Msg): void {
    const token = message.subject.slice(this.#inbox.length);
    const publish = this.#publishes.get(token);
    if (!publish) return;
    this.#publishes.delete(token);
    try {
      assertStored(publish.subject, message);
      publish.resolve();
    } catch (error) {
      publish.reject(error);
    }
  }

  #rejectLate(): void {
    const now = performance.now();
    for (const [token, publish] of this.#publishes) {
      if (publish.deadlineMs > now) continue;
      this.#publishes.delete(token);
      publish.reject(new errors.TimeoutError());
    }
    if (this.#publishes.size > 0) return;
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }
}

function assertStored(subject: string, message: Msg): void {
  if (message.data.length === 0 && message.headers?.code === NO_RESPONDERS) throw new errors.NoRespondersError(subject);
  const { error, stream } = message.json<{
    error?: ConstructorParameters<typeof JetStreamApiError>[0];
    stream?: string;
  }>();
  if (error) throw new JetStreamApiError(error);
  if (!stream) throw new Error("the broker's acknowledgement names no stream");
}

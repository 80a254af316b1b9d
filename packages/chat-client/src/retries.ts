/** Statuses that a proxy in front of the server sends. */
const UNREACHABLE: readonly number[] = [502, 503, 504];
/** How often a failed request is repeated. Each repeat may cost the server as much as the first request. */
const MAX_REPEATED_FAILURES = 2;

/** The server refused the request, or there were too many failed attempts. */
export class ChatError extends Error {
  /** The HTTP status; 0 when there was no response. */
  readonly status: number;
  /** Such as UNAUTHENTICATED, CHAT_BUSY, INTERNAL; CONNECTION_LOST after the last attempt. */
  readonly code: string;
  /** The same request may succeed later. */
  readonly isPassing: boolean;
  /** The server failed, and may fail in the same way again. */
  readonly isFailure: boolean;
  /** The pause that the server asks for, in ms. */
  readonly retryAfterMs: number;

  constructor(status: number, code: string, message: string, retryAfterMs = 0) {
    super(message);
    this.name = "ChatError";
    this.status = status;
    this.code = code;
    this.retryAfterMs = retryAfterMs;
    const isRefusedForNow = status === 429 && code !== "BUDGET_EXCEEDED";
    this.isFailure = status === 500 && code === "INTERNAL";
    this.isPassing = isRefusedForNow || UNREACHABLE.includes(status) || this.isFailure;
  }
}

export interface RetryOptions {
  /**
   * Longest pause after the first failure, in ms. It doubles with each further one, up to 30 times this. Default: 500.
   */
  retryMs?: number;
  /** Attempts in a row without any progress. Default: 40, about ten minutes. */
  maxAttempts?: number;
}

/** Decides about each failure whether, and when, to try again. */
export class Retries {
  #baseMs: number;
  #max: number;
  #failures = 0;
  #failedAnswers = 0;
  readonly #signal: AbortSignal | undefined;

  constructor({ retryMs = 500, maxAttempts = 40 }: RetryOptions, signal: AbortSignal | undefined) {
    this.#baseMs = retryMs;
    this.#max = maxAttempts;
    this.#signal = signal;
  }

  /** Something has arrived, so the next failure is a first one. */
  progress(): void {
    this.#failures = 0;
    this.#failedAnswers = 0;
  }

  /** Waits before the next attempt, or throws when none are left. `error` undefined: a connection just ended. */
  async wait(error: unknown): Promise<void> {
    this.#signal?.throwIfAborted();
    // fetch fails with a TypeError when the network does.
    const isNetwork = error === undefined || error instanceof TypeError;
    const isPassing = error instanceof ChatError && error.isPassing;
    if (!isNetwork && !isPassing) throw error;
    this.#failures += 1;
    if (isPassing && error.isFailure) this.#failedAnswers += 1;
    if (this.#failedAnswers > MAX_REPEATED_FAILURES) throw error;
    if (this.#failures >= this.#max) throw isPassing ? error : new ChatError(0, "CONNECTION_LOST", "no connection");
    const longest = this.#baseMs * Math.min(30, 2 ** (this.#failures - 1));
    // A random part of it, so that many clients do not return at the same moment.
    const pauseMs = Math.max(isPassing ? error.retryAfterMs : 0, Math.random() * longest);
    await pause(pauseMs, this.#signal);
  }
}

/** Ends early when the browser is online again. Rejects when the signal fires. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const page = globalThis as unknown as Partial<EventTarget>;
    const end = () => {
      clearTimeout(timer);
      page.removeEventListener?.("online", end);
      signal?.removeEventListener("abort", end);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    };
    const timer = setTimeout(end, ms);
    page.addEventListener?.("online", end);
    signal?.addEventListener("abort", end);
  });
}

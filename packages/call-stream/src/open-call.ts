import type { CallContext } from "./call.ts";

/** One call on the side of its handler: its deadline, and an abort signal that exists only if somebody asks for it. */
export class OpenCall implements CallContext {
  readonly deadlineMs: number;
  #controller: AbortController | undefined;
  #reason: unknown;

  constructor(deadlineMs: number) {
    this.deadlineMs = deadlineMs;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Tells the handler that nobody waits for it any more. */
  abort(reason: Error): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}

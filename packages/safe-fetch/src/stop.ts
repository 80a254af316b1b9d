/** Why a send has to end early. */
export type StopReason = "deadline" | "aborted";

/**
 * Ends a send early: fired once, by the deadline or by the caller. Each step checks `reason` before it begins, and says
 * with `onFire` how it is cancelled.
 */
export class Stop {
  reason: StopReason | undefined = undefined;
  #cancel: (() => void) | undefined = undefined;

  /** What `fire` does, in place of what it would have done before. */
  onFire(cancel: (() => void) | undefined): void {
    this.#cancel = cancel;
  }

  /** Ends the send; later calls change nothing. */
  fire(reason: StopReason): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    this.#cancel?.();
  }

  /** The value of a step that cannot be cancelled, or undefined as soon as this fires. The step must not reject. */
  before<T>(step: Promise<T>): Promise<T | undefined> {
    if (this.reason !== undefined) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.onFire(() => resolve(undefined));
      void step.then(resolve);
    });
  }
}

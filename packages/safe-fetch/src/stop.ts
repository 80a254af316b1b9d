/** Why an exchange has to end before its end. */
export type StopReason = "deadline" | "aborted";

/**
 * The one thing that ends an exchange early: fired once, by the deadline or by the caller. Whichever step is under
 * way says what to cancel by setting `onFire`, and looks at `reason` before it begins.
 */
export class Stop {
  reason: StopReason | undefined = undefined;
  onFire: (() => void) | undefined = undefined;

  /** Ends the exchange; later calls change nothing. */
  fire(reason: StopReason): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    this.onFire?.();
  }

  /** The value of a step that cannot be cancelled, or undefined as soon as this fires. The step must not reject. */
  before<T>(step: Promise<T>): Promise<T | undefined> {
    if (this.reason !== undefined) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.onFire = () => resolve(undefined);
      void step.then(resolve);
    });
  }
}

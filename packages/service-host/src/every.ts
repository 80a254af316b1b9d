/**
 * Runs a job again and again until the signal fires, with `waitMs` between the end of one run and the start of the next.
 * A run that fails is reported, and the next one follows as usual.
 */
export async function runEvery(
  waitMs: number,
  signal: AbortSignal,
  job: () => Promise<void>,
  onError: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await job();
    } catch (error) {
      onError(error);
    }
    await pause(waitMs, signal);
  }
}

/** Resolves after `waitMs`, or as soon as the signal fires. */
export function pause(waitMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(done, waitMs);
    signal.addEventListener("abort", done, { once: true });
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
  });
}

/** The items until the signal fires, which ends the loop even while it waits for the next one. */
export async function* untilAborted<T>(items: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  while (!signal.aborted) {
    const { promise: aborted, resolve } = Promise.withResolvers<undefined>();
    const abort = () => resolve(undefined);
    signal.addEventListener("abort", abort);
    const next = await Promise.race([iterator.next(), aborted]).finally(() =>
      signal.removeEventListener("abort", abort),
    );
    if (!next || next.done) return;
    yield next.value;
  }
}

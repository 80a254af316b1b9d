import { pause } from "@toolgate/service-host/every";

const SAME_REQUEST_MS = 500;

/** The two requests that a run listens to. */
type StopRequests = { readonly stop: AbortSignal; readonly stopNow: AbortSignal };

/**
 * Turns SIGINT, SIGTERM and SIGHUP into a request to stop, and a second one into a request to stop immediately. One key
 * press or one `kill` can arrive twice, from the terminal and from make, so another one within 0.5 s counts as the
 * same.
 */
export function listenForStop(source: NodeJS.EventEmitter, nowMs: () => number): StopRequests {
  const stop = new AbortController();
  const stopNow = new AbortController();
  let firstMs = 0;
  const onSignal = () => {
    if (!stop.signal.aborted) {
      firstMs = nowMs();
      stop.abort(new Error("told to stop"));
    } else if (nowMs() - firstMs >= SAME_REQUEST_MS) {
      stopNow.abort(new Error("told to stop immediately"));
    }
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) source.on(name, onSignal);
  return { stop: stop.signal, stopNow: stopNow.signal };
}

/** Resolves once `signal` is aborted. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/**
 * Waits for `work`. After `stop` it waits at most `graceMs` more, and after `stopNow` not at all. Work that fails or
 * does not finish while stopping ends with the reason of `stop`.
 */
export async function unlessStopped<T>(work: Promise<T>, { stop, stopNow }: StopRequests, graceMs: number): Promise<T> {
  await Promise.race([work, untilAborted(stop)]).catch((error: unknown) => {
    if (!stop.aborted) throw error;
  });
  if (!stop.aborted) return work;
  const isFinished = await finishWithin(work, graceMs, stopNow).catch(() => false);
  if (!isFinished) throw stop.reason;
  return work;
}

/** Waits for `work` for at most `deadlineMs` or until `stopNow`; true when it finished. Its errors are passed on. */
export async function finishWithin(work: Promise<unknown>, deadlineMs: number, stopNow: AbortSignal): Promise<boolean> {
  const done = new AbortController();
  const cut = pause(deadlineMs, AbortSignal.any([stopNow, done.signal]));
  return Promise.race([work.then(() => true), cut.then(() => false)]).finally(() => done.abort());
}

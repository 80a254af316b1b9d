/** Runs until its signal fires, then finishes the work that it has begun. */
export type Loop = (signal: AbortSignal) => Promise<void>;

export interface Loops {
  /** Stopped first: they bring in work. */
  producers: Loop[];
  /** Stopped when the producers have ended, so that they still finish their work. */
  consumers?: Loop[];
}

interface RunningLoops extends AsyncDisposable {
  /** Stops them in order; safe to repeat. */
  stop(): Promise<void>;
}

export function startLoops({ producers, consumers = [] }: Loops): RunningLoops {
  const stopProducers = new AbortController();
  const stopConsumers = new AbortController();
  const producing = Promise.all(producers.map((loop) => loop(stopProducers.signal)));
  const consuming = Promise.all(consumers.map((loop) => loop(stopConsumers.signal)));
  async function stop(): Promise<void> {
    stopProducers.abort();
    await producing;
    stopConsumers.abort();
    await consuming;
  }
  return { stop, [Symbol.asyncDispose]: stop };
}

import {
  type Attributes,
  type Counter,
  type Histogram,
  metrics,
  type Observable,
  type ObservableCallback,
} from "@opentelemetry/api";

/** Label names and values, from small closed sets. */
type Labels = Attributes;

/** One value of a gauge at the time of a scrape. */
type Observation = readonly [value: number, labels?: Labels];

const meter = () => metrics.getMeter("toolgate");

/** Instruments are created on first use, after the process has set up its SDK; without an SDK they do nothing. */
function lazy<T>(create: () => T): () => T {
  let created: T | undefined;
  return () => {
    created ??= create();
    return created;
  };
}

export function counter(name: string): { add(by: number, labels?: Labels): void } {
  const created = lazy<Counter>(() => meter().createCounter(name));
  return { add: (by, labels) => created().add(by, labels) };
}

/** `buckets` are upper bounds, in the unit that the name ends in. */
export function histogram(name: string, buckets: number[]): { record(value: number, labels?: Labels): void } {
  const advice = { explicitBucketBoundaries: buckets };
  const created = lazy<Histogram>(() => meter().createHistogram(name, { advice }));
  return { record: (value, labels) => created().record(value, labels) };
}

interface Observed {
  /** Calls `read` at each scrape, until disposed. Several readers of a metric must differ in their labels. */
  observe(read: () => Iterable<Observation> | Promise<Iterable<Observation>>): Disposable;
}

export function gauge(name: string): Observed {
  return observed(() => meter().createObservableGauge(name));
}

/** A counter whose total is counted elsewhere. */
export function observedCounter(name: string): Observed {
  return observed(() => meter().createObservableCounter(name));
}

function observed(create: () => Observable): Observed {
  return {
    observe(read) {
      const instrument = create();
      const callback: ObservableCallback = async (result) => {
        for (const [value, labels] of await read()) result.observe(value, labels);
      };
      instrument.addCallback(callback);
      return { [Symbol.dispose]: () => instrument.removeCallback(callback) };
    },
  };
}

/**
 * `read`, but calls within `ms` share one result, and so do all calls until a slow read ends. A failure is not cached.
 */
export function atMostEvery<T>(ms: number, read: () => Promise<T>): () => Promise<T> {
  let last: { at: number; result: Promise<T>; ended: boolean } | undefined;
  return () => {
    if (last && (!last.ended || performance.now() - last.at < ms)) return last.result;
    const started = { at: performance.now(), result: read(), ended: false };
    last = started;
    started.result.then(
      () => {
        started.ended = true;
      },
      () => {
        last = undefined;
      },
    );
    return started.result;
  };
}

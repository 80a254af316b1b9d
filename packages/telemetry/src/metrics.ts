import { type Attributes, type Counter, type Histogram, metrics } from "@opentelemetry/api";

/** Label names and values, from small closed sets. */
export type Labels = Attributes;

/** One value of a gauge at the time of a scrape. */
export type Observation = readonly [value: number, labels?: Labels];

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

export interface Gauge {
  /** Calls `read` at each scrape, until disposed. Several readers of a gauge must differ in their labels. */
  observe(read: () => Iterable<Observation> | Promise<Iterable<Observation>>): Disposable;
}

export function gauge(name: string): Gauge {
  return {
    observe(read) {
      const instrument = meter().createObservableGauge(name);
      const callback: Parameters<typeof instrument.addCallback>[0] = async (result) => {
        for (const [value, labels] of await read()) result.observe(value, labels);
      };
      instrument.addCallback(callback);
      return { [Symbol.dispose]: () => instrument.removeCallback(callback) };
    },
  };
}

/** `read`, but calls within `ms` share one result. A failure is not kept. */
export function atMostEvery<T>(ms: number, read: () => Promise<T>): () => Promise<T> {
  let last: { at: number; result: Promise<T> } | undefined;
  return () => {
    if (last && performance.now() - last.at < ms) return last.result;
    const result = read();
    const started = { at: performance.now(), result };
    last = started;
    result.catch(() => {
      if (last === started) last = undefined;
    });
    return result;
  };
}

import { setTimeout as sleep } from "node:timers/promises";
import { metrics } from "@opentelemetry/api";
import { PrometheusExporter, PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { RuntimeNodeInstrumentation } from "@opentelemetry/instrumentation-runtime-node";
import { AggregationTemporality, InstrumentType, MeterProvider } from "@opentelemetry/sdk-metrics";
import { cpuSeconds, residentMemory } from "./instruments.ts";
import { atMostEvery } from "./metrics.ts";

export interface Metrics extends AsyncDisposable {
  /**
   * The values of all metrics now, in Prometheus' text format. A gauge that cannot be read within 1 s is left out. Those of
   * the event loop and of garbage collection begin with the first call.
   */
  scrape(): Promise<string>;
}

/** The first scrape reports the event loop over this time. */
const FIRST_LOOK_MS = 100;
/** How long a scrape waits for a gauge that is read from elsewhere, such as from Postgres. */
const READ_WITHIN_MS = 1_000;
const MICROSECONDS_PER_SECOND = 1_000_000;

/** Forgets gauges after each scrape, so that one that cannot be read is left out instead of keeping its last value. */
class Reader extends PrometheusExporter {
  override selectAggregationTemporality(type: InstrumentType): AggregationTemporality {
    if (type === InstrumentType.OBSERVABLE_GAUGE) return AggregationTemporality.DELTA;
    return super.selectAggregationTemporality(type);
  }
}

/** Starts measuring in this process; instruments that were used before measure nothing. */
export function startMetrics(): Metrics {
  const reader = new Reader({ preventServerStart: true });
  const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);
  const provider = new MeterProvider({ readers: [reader] });
  metrics.setGlobalMeterProvider(provider);
  // It wakes the process every 10 ms, so it begins only when somebody reads it.
  let runtime: RuntimeNodeInstrumentation | undefined;
  cpuSeconds.observe(() => {
    const { user, system } = process.cpuUsage();
    return [
      [user / MICROSECONDS_PER_SECOND, { mode: "user" }],
      [system / MICROSECONDS_PER_SECOND, { mode: "system" }],
    ];
  });
  residentMemory.observe(() => [[process.memoryUsage.rss()]]);
  return {
    // Scrapes at the same time share one result: each reading of a gauge is reported once.
    scrape: atMostEvery(0, async () => {
      if (!runtime) {
        runtime = new RuntimeNodeInstrumentation();
        runtime.setMeterProvider(provider);
        await sleep(FIRST_LOOK_MS);
      }
      const { resourceMetrics } = await reader.collect({ timeoutMillis: READ_WITHIN_MS });
      return serializer.serialize(resourceMetrics);
    }),
    async [Symbol.asyncDispose]() {
      runtime?.disable();
      metrics.disable();
      await provider.shutdown();
    },
  };
}

import { metrics } from "@opentelemetry/api";
import { PrometheusExporter, PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { RuntimeNodeInstrumentation } from "@opentelemetry/instrumentation-runtime-node";
import { MeterProvider } from "@opentelemetry/sdk-metrics";
import { cpuSeconds, residentMemory } from "./instruments.ts";

export interface Metrics extends AsyncDisposable {
  /** The values of all metrics now, in Prometheus' text format. */
  scrape(): Promise<string>;
}

/** Starts measuring in this process; instruments that were used before measure nothing. */
export function startMetrics(): Metrics {
  const reader = new PrometheusExporter({ preventServerStart: true });
  const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);
  const provider = new MeterProvider({ readers: [reader] });
  metrics.setGlobalMeterProvider(provider);
  const runtime = new RuntimeNodeInstrumentation();
  runtime.setMeterProvider(provider);
  const MICROSECONDS = 1_000_000;
  cpuSeconds.observe(() => {
    const { user, system } = process.cpuUsage();
    return [
      [user / MICROSECONDS, { mode: "user" }],
      [system / MICROSECONDS, { mode: "system" }],
    ];
  });
  residentMemory.observe(() => [[process.memoryUsage.rss()]]);
  return {
    // A gauge that cannot be read is left out.
    scrape: async () => serializer.serialize((await reader.collect()).resourceMetrics),
    async [Symbol.asyncDispose]() {
      runtime.disable();
      metrics.disable();
      await provider.shutdown();
    },
  };
}

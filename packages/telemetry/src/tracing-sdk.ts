import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";

type Env = Readonly<Record<string, string | undefined>>;

const QUEUE_SPANS = 8_192;
const BATCH_SPANS = 2_048;
const SEND_EVERY_MS = 1_000;
const DEFAULT_SAMPLER = new TraceIdRatioBasedSampler(0.05);

/** Spans that find the queue full are dropped: tracing never delays a call. */
export function createTracerProvider({
  url,
  service,
  env,
}: {
  url: string;
  service: string;
  env: Env;
}): TracerProvider {
  const maxQueueSize = numberOf(env.OTEL_BSP_MAX_QUEUE_SIZE, QUEUE_SPANS);
  const processor = new BatchSpanProcessor({
    exporter: new OTLPTraceExporter({ url }),
    maxQueueSize,
    maxExportBatchSize: Math.min(maxQueueSize, numberOf(env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE, BATCH_SPANS)),
    scheduledDelayMillis: numberOf(env.OTEL_BSP_SCHEDULE_DELAY, SEND_EVERY_MS),
  });
  const resource = resourceFromAttributes({ "service.name": service });
  return new TracerProvider({
    resource: detectResources({ detectors: [envDetector] }).merge(resource),
    sampler: samplerOf(env),
    spanProcessors: [processor],
  });
}

/**
 * OTEL_TRACES_SAMPLER decides on traces that start here; a parent's decision is always followed, so `always_on` and
 * `parentbased_always_on` are the same. Recording costs a third of a call's time, hence the default of one in twenty.
 */
function samplerOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio }: Env): Sampler {
  const root = name ? rootSampler(name.replace(/^parentbased_/, ""), numberOf(ratio, 1)) : DEFAULT_SAMPLER;
  return new ParentBasedSampler({ root });
}

function rootSampler(name: string, ratio: number): Sampler {
  if (name === "always_off") return new AlwaysOffSampler();
  return name === "traceidratio" ? new TraceIdRatioBasedSampler(ratio) : new AlwaysOnSampler();
}

function numberOf(text: string | undefined, fallback: number): number {
  const number = Number(text);
  return text && Number.isFinite(number) && number >= 0 ? number : fallback;
}

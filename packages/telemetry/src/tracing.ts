import { traceWith } from "./trace.ts";

type Env = Readonly<Record<string, string | undefined>>;

const DEFAULT_SERVICE_PREFIX = "toolgate";

/**
 * Starts tracing in this process if the standard OTEL_* variables name a receiver: OTLP over HTTP, parent-based sampling.
 * Disposing sends what is left. The SDK is loaded only if it is used.
 */
export async function startTracing(service: string, env: Env): Promise<AsyncDisposable | undefined> {
  const url = tracesUrl(env);
  if (url === undefined || env.OTEL_SDK_DISABLED === "true" || env.OTEL_TRACES_EXPORTER === "none") return undefined;
  const { createTracerProvider } = await import("./tracing-sdk.ts");
  const provider = createTracerProvider({ url, service: serviceName(service, env), env });
  traceWith(provider.getTracer("toolgate"));
  return {
    async [Symbol.asyncDispose]() {
      traceWith(undefined);
      // The receiver may be down, which must not keep the process from stopping.
      await provider.shutdown().catch(() => {});
    },
  };
}

function tracesUrl(env: Env): string | undefined {
  if (env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) return env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  return base ? `${base.replace(/\/$/, "")}/v1/traces` : undefined;
}

function serviceName(service: string, env: Env): string {
  return (
    env.OTEL_SERVICE_NAME || (service === DEFAULT_SERVICE_PREFIX ? service : `${DEFAULT_SERVICE_PREFIX}-${service}`)
  );
}

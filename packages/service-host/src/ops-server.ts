import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Registry } from "prom-client";
import { listen } from "./listen.ts";
import type { Service } from "./service.ts";

export interface OpsServerOptions {
  service: Pick<Service, "ready">;
  host: string;
  port: number;
  metrics: Registry;
}

export interface OpsServer extends AsyncDisposable {
  readonly port: number;
  /** From now on /readyz answers 503, so that no new work is routed here. */
  markDraining(): void;
}

type Answer = readonly [status: number, type: string, body: string];

const READY_WITHIN_MS = 2_000;

/** /healthz (the process lives), /readyz (it can work), /metrics (Prometheus): for probes, never for the internet. */
export async function startOpsServer({ service, host, port, metrics }: OpsServerOptions): Promise<OpsServer> {
  let draining = false;
  const answers = new Map<string, () => Answer | Promise<Answer>>([
    ["/healthz", () => [200, "text/plain", "ok\n"]],
    ["/readyz", () => (draining ? [503, "text/plain", "draining\n"] : readiness(service))],
    ["/metrics", async () => [200, metrics.contentType, await metrics.metrics()]],
  ]);
  const server = createServer(async (request, response) => {
    const path = request.url?.split("?")[0] ?? "";
    const known = request.method === "GET" || request.method === "HEAD" ? answers.get(path) : undefined;
    const [status, type, body] = await answerOf(known);
    response.writeHead(status, { "content-type": type }).end(body);
  });
  const bound = await listen(server, host, port);
  return {
    port: bound,
    markDraining() {
      draining = true;
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answerOf(known: (() => Answer | Promise<Answer>) | undefined): Promise<Answer> {
  if (!known) return [404, "text/plain", "not found\n"];
  try {
    return await known();
  } catch {
    return [500, "text/plain", "failed\n"];
  }
}

async function readiness(service: Pick<Service, "ready">): Promise<Answer> {
  const cut = new AbortController();
  const late = sleep(READY_WITHIN_MS, undefined, { signal: cut.signal }).then(() => {
    throw new Error(`no answer within ${READY_WITHIN_MS} ms`);
  });
  late.catch(() => {});
  try {
    await Promise.race([service.ready(), late]);
    return [200, "text/plain", "ready\n"];
  } catch (error) {
    return [503, "text/plain", `not ready: ${error instanceof Error ? error.message : "unknown"}\n`];
  } finally {
    cut.abort();
  }
}

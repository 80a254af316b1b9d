import { createServer } from "node:http";
import { listen } from "./listen.ts";
import type { Readiness } from "./readiness.ts";

interface OpsServerOptions {
  readiness: Readiness;
  host: string;
  port: number;
  /** The metrics in Prometheus' text format. */
  scrape: () => Promise<string>;
}

interface OpsServer extends AsyncDisposable {
  readonly port: number;
}

const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

type Response = readonly [status: number, type: string, body: string];

/** /healthz (the process runs), /readyz (it can work), /metrics (Prometheus): for probes, never for the internet. */
export async function startOpsServer({ readiness, host, port, scrape }: OpsServerOptions): Promise<OpsServer> {
  const responses = new Map<string, () => Response | Promise<Response>>([
    ["/healthz", () => [200, "text/plain", "ok\n"]],
    ["/readyz", () => readyResponse(readiness)],
    ["/metrics", async () => [200, METRICS_TYPE, await scrape()]],
  ]);
  const server = createServer(async (request, response) => {
    const path = request.url?.split("?")[0] ?? "";
    const known = request.method === "GET" || request.method === "HEAD" ? responses.get(path) : undefined;
    const [status, type, body] = await responseOf(known);
    response.writeHead(status, { "content-type": type }).end(body);
  });
  const bound = await listen(server, host, port);
  return {
    port: bound,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function responseOf(known: (() => Response | Promise<Response>) | undefined): Promise<Response> {
  if (!known) return [404, "text/plain", "not found\n"];
  try {
    return await known();
  } catch {
    return [500, "text/plain", "failed\n"];
  }
}

async function readyResponse(readiness: Readiness): Promise<Response> {
  const reason = await readiness.reasonNotReady();
  return reason === undefined ? [200, "text/plain", "ready\n"] : [503, "text/plain", `${reason}\n`];
}

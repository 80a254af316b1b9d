import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { measureWindow } from "../calls/measure-calls.ts";
import { toolgateVariant } from "../calls/variants.ts";
import { startGenerator } from "../installation/run-parts.ts";
import { startInstallation } from "../installation/start-installation.ts";
import type { LoadMode } from "../load/score.ts";
import { median } from "../statistics.ts";

export type TlsCost = { load: string; plainUs: number; tlsUs: number; plainP50Ms: number; tlsP50Ms: number };

const ROUNDS = 3;
const LOADS: readonly (readonly [name: string, mode: LoadMode])[] = [
  ["64 connections", { kind: "closed", concurrency: 64 }],
  ["300 calls/s", { kind: "open", perSecond: 300 }],
];
const WARM_UP = { mode: { kind: "closed", concurrency: 64 }, warmUpMs: 0, measureMs: 3_000 } as const;
/** Of PostgreSQL, NATS and Redis, which are the same in both, and of the load generator. */
const NOT_SERVICES = new Set(["postgres", "nats", "redis", "generator"]);

/** CPU time of the services' processes for a call, in two split topologies: without and with TLS between them. */
export async function measureProcessTls(folder: string, signal: AbortSignal): Promise<TlsCost[]> {
  await using resources = new AsyncDisposableStack();
  const start = async (name: string, env: Record<string, string>) => {
    const settings = { dataDir: join(folder, name), receiver: undefined, env, log: () => {}, signal };
    return toolgateVariant(resources.use(await startInstallation("split", settings)));
  };
  const variants = { plain: await start("plain", {}), tls: await start("tls", await certificates(folder)) };
  const generator = await startGenerator(resources, signal);
  for (const variant of Object.values(variants)) await measureWindow(variant, WARM_UP, { generator, signal });
  const costs: TlsCost[] = [];
  for (const [load, mode] of LOADS) {
    const seen = {
      plain: { us: [] as number[], p50: [] as number[] },
      tls: { us: [] as number[], p50: [] as number[] },
    };
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (const name of ["plain", "tls"] as const) {
        const order = { mode, warmUpMs: 500, measureMs: 4_000 };
        const window = await measureWindow(variants[name], order, { generator, signal });
        const services = Object.entries(window.usage.cpuMs).filter(([process]) => !NOT_SERVICES.has(process));
        const cpuMs = services.reduce((sum, [, ms]) => sum + ms, 0);
        seen[name].us.push((cpuMs * 1_000) / window.load.responses);
        seen[name].p50.push(window.load.latency.p50Ms);
      }
    }
    const { plain, tls } = seen;
    costs.push({
      load,
      plainUs: median(plain.us),
      tlsUs: median(tls.us),
      plainP50Ms: median(plain.p50),
      tlsP50Ms: median(tls.p50),
    });
  }
  return costs;
}

/** Both sides of a connection show the certificate, so it may not be for servers alone. */
async function certificates(folder: string): Promise<Record<string, string>> {
  await mkdir(folder, { recursive: true });
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => promisify(execFile)("openssl", args);
  const made = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2".split(" ");
  await openssl(...made, "-subj", "/CN=bench", "-keyout", at("ca.key"), "-out", at("ca.pem"));
  const signed = ["-CA", at("ca.pem"), "-CAkey", at("ca.key"), "-subj", "/CN=process"];
  const names = ["-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE"];
  await openssl(...made, ...signed, ...names, "-keyout", at("own.key"), "-out", at("own.pem"));
  return { TLS_CERT_FILE: at("own.pem"), TLS_KEY_FILE: at("own.key"), TLS_CA_FILE: at("ca.pem") };
}

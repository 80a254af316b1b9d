import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { serverAddresses } from "@toolgate/service-host/rpc/addresses";
import { SERVICE_NAMES, urlVariable } from "@toolgate/service-registry/services";
import type { Findings } from "./finding.ts";
import type { Installation } from "./installation.ts";
import { certificateOfProcess, certificateOfServer, type ServerKind } from "./shown-certificate.ts";

/** Time to renew a certificate before it expires. */
const WARN_DAYS = 30;
const DAY_MS = 86_400_000;
const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu;
/** Files of certificates, and what uses them. */
const FILES = { TLS_CERT_FILE: "processes", TLS_CA_FILE: "processes", SERVERS_CA_FILE: "servers" } as const;
const REMEDY = {
  servers:
    "Renew it and let the server load it; an authority belongs into SERVERS_CA_FILE of all processes before its servers use it.",
  processes: "Renew it; processes load new files within seconds: docs/operators.md, Encryption between processes.",
};

interface Shown {
  what: string;
  whose: keyof typeof REMEDY;
  expiresMs: number;
}

/**
 * Certificates that expire within 30 days: those that servers and processes show, and those in files. What cannot be reached
 * or read is reported by the checks that use it.
 */
export async function checkCertificates(
  installation: Installation,
  now: () => number,
  findings: Findings,
): Promise<void> {
  const found = await Promise.all([...inFiles(installation), ...ofServers(installation), ofProcesses(installation)]);
  for (const { what, whose, expiresMs } of found.flat()) {
    const days = Math.floor((expiresMs - now()) / DAY_MS);
    if (days >= WARN_DAYS) continue;
    const date = new Date(expiresMs).toISOString().slice(0, 10);
    findings.add(
      "certificates",
      `${what} ${days < 0 ? "has expired" : "expires soon"}: it is valid until ${date}`,
      REMEDY[whose],
    );
  }
}

function inFiles({ members }: Installation): Promise<Shown[]>[] {
  return Object.entries(FILES).flatMap(([variable, whose]) => {
    const files = new Set(members.flatMap(({ env }) => env[variable] || []));
    return [...files].map(async (file) => {
      const text = await readFile(file, "utf8").catch(() => "");
      return (text.match(PEM) ?? []).flatMap((pem) => {
        const expiresMs = expiryOf(pem);
        return expiresMs === undefined ? [] : [{ what: `a certificate in ${variable} (${file})`, whose, expiresMs }];
      });
    });
  });
}

function expiryOf(pem: string): number | undefined {
  try {
    return new X509Certificate(pem).validToDate.getTime();
  } catch {
    return undefined;
  }
}

const WITHOUT_TLS = new Set([null, "", "disable"]);
const SERVERS: readonly { kind: ServerKind; variable: string; name: string; isEncrypted: (url: URL) => boolean }[] = [
  {
    kind: "postgres",
    variable: "DATABASE_URL",
    name: "PostgreSQL",
    isEncrypted: ({ searchParams }) => !WITHOUT_TLS.has(searchParams.get("sslmode")),
  },
  { kind: "redis", variable: "REDIS_URL", name: "Redis", isEncrypted: ({ protocol }) => protocol === "rediss:" },
  { kind: "nats", variable: "NATS_URL", name: "NATS", isEncrypted: ({ protocol }) => protocol === "tls:" },
];
const DEFAULT_PORTS: Record<ServerKind, number> = { postgres: 5_432, redis: 6_379, nats: 4_222 };

function ofServers({ members }: Installation): Promise<Shown[]>[] {
  return SERVERS.flatMap(({ kind, variable, name, isEncrypted }) => {
    const urls = members.flatMap(({ env }) => (env[variable] ?? "").split(","));
    const hosts = urls.flatMap((text) => {
      const url = URL.parse(text.trim());
      return url && isEncrypted(url) ? [`${url.hostname}:${url.port || DEFAULT_PORTS[kind]}`] : [];
    });
    return [...new Set(hosts)].map(async (host) => {
      const expiresMs = await certificateOfServer(kind, new URL(`tcp://${host}`)).catch(() => undefined);
      return expiresMs === undefined
        ? []
        : [{ what: `the certificate of ${name} at ${host}`, whose: "servers" as const, expiresMs }];
    });
  });
}

/** What a process still has in use may be older than what is in its file. */
async function ofProcesses({ env }: Installation): Promise<Shown[]> {
  const shown = SERVICE_NAMES.map(async (name) => {
    const urls = env[urlVariable(name)] ?? "";
    if (!urls.startsWith("https:")) return [];
    const addresses = await serverAddresses(urls).catch(() => []);
    return Promise.all(
      addresses.map(async (address) => {
        const expiresMs = await certificateOfProcess(new URL(address), env).catch(() => undefined);
        const what = `the certificate of ${name} at ${address}`;
        return expiresMs === undefined ? [] : [{ what, whose: "processes" as const, expiresMs }];
      }),
    );
  });
  return (await Promise.all(shown)).flat(2);
}

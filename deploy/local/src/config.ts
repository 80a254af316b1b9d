import { resolve } from "node:path";
import { SERVICE_NAMES, type ServiceName } from "@toolgate/service-registry/services";

const DEFAULT_PORT = 8080;
const MAX_PORT = 65_535;

/** What `make run` was asked for. A URL that is absent means: start that server. */
export type LocalConfig = {
  readonly port: number;
  readonly dataDir: string;
  readonly topology: "single" | "split";
  /** Runs this service under the inspector; in the split topology. */
  readonly inspect?: ServiceName;
  readonly databaseUrl?: string;
  readonly natsUrl?: string;
  readonly redisUrl?: string;
  /** Inner addresses that deliveries and tools may call beside the demo's receiver: addresses, networks or host:port. */
  readonly allowedTargets: readonly string[];
  /** The search path for server programs. */
  readonly path: string | undefined;
};

/** Reads the environment; an empty variable counts as absent. Throws a one-line error that names the variable. */
export function readConfig(env: Readonly<Record<string, string | undefined>>, root: string): LocalConfig {
  const databaseUrl = readUrl(env, "DATABASE_URL", ["postgres:", "postgresql:"]);
  const natsUrl = readUrl(env, "NATS_URL", ["nats:", "tls:"]);
  const redisUrl = readUrl(env, "REDIS_URL", ["redis:", "rediss:"]);
  return {
    port: readPort(env.PORT),
    dataDir: resolve(root, env.DATA_DIR || ".data"),
    topology: readTopology(env.TOPOLOGY),
    ...(env.INSPECT && { inspect: readService(env.INSPECT) }),
    ...(databaseUrl && { databaseUrl }),
    ...(natsUrl && { natsUrl }),
    ...(redisUrl && { redisUrl }),
    allowedTargets: readList(env.ALLOWED_TARGETS),
    path: env.PATH,
  };
}

function readPort(text: string | undefined): number {
  if (!text) return DEFAULT_PORT;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= MAX_PORT) return port;
  throw new Error(`PORT must be a whole number from 1 to ${MAX_PORT}, not "${text}"`);
}

function readTopology(text: string | undefined): LocalConfig["topology"] {
  if (!text || text === "single") return "single";
  if (text === "split") return "split";
  throw new Error(`TOPOLOGY must be "single" or "split", not "${text}"`);
}

function readService(text: string): ServiceName {
  const name = SERVICE_NAMES.find((known) => known === text);
  if (name) return name;
  throw new Error(`SERVICE must be one of ${SERVICE_NAMES.join(", ")}, not "${text}"`);
}

function readList(text = ""): string[] {
  const entries = text.split(",").map((entry) => entry.trim());
  return entries.filter((entry) => entry !== "");
}

// The value is left out of the message: it may hold a password.
function readUrl(env: Readonly<Record<string, string | undefined>>, name: string, protocols: string[]) {
  const text = env[name];
  if (!text) return undefined;
  if (protocols.includes(URL.parse(text)?.protocol ?? "")) return text;
  throw new Error(
    `${name} must be a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`,
  );
}

import { resolve } from "node:path";
import { type Env, type EnvReader, readConfig as readEnvironment } from "@toolgate/service-host/env";
import { readServersCaFile, withCaFile } from "@toolgate/service-host/server-addresses";

/** The settings of `make run`. A server without a URL is started. */
export type LocalConfig = {
  readonly port: number;
  readonly dataDir: string;
  readonly topology: "single" | "split";
  readonly databaseUrl?: string;
  readonly natsUrl?: string;
  readonly redisUrl?: string;
  /** PEM file of the authorities of servers that are given by URL; absent: the public ones. */
  readonly serversCaFile?: string;
  /**
   * Non-public addresses that deliveries and tools may call, in addition to the demo's receiver: addresses, networks or
   * host:port.
   */
  readonly allowedTargets: readonly string[];
};

/** Reads the environment; an empty variable counts as absent. Throws a one-line error that names the wrong variables. */
export function readConfig(env: Env, root: string): LocalConfig {
  return readEnvironment(env, (reader) => {
    const serversCaFile = readServersCaFile(reader);
    const databaseUrl = withCaFile(readUrl(reader, "DATABASE_URL", ["postgres:", "postgresql:"]), serversCaFile);
    const natsUrl = readUrl(reader, "NATS_URL", ["nats:", "tls:"]);
    const redisUrl = readUrl(reader, "REDIS_URL", ["redis:", "rediss:"]);
    return {
      port: reader.integer("PORT", { fallback: 8080, min: 1, max: 65_535 }),
      dataDir: resolve(root, reader.text("DATA_DIR", ".data")),
      topology: reader.choice("TOPOLOGY", ["single", "split"], "single"),
      ...(databaseUrl && { databaseUrl }),
      ...(natsUrl && { natsUrl }),
      ...(redisUrl && { redisUrl }),
      ...(serversCaFile && { serversCaFile }),
      allowedTargets: reader.list("ALLOWED_TARGETS"),
    };
  });
}

function readUrl(reader: EnvReader, name: string, protocols: readonly string[]): string {
  const url = reader.text(name, "");
  if (url !== "" && !protocols.includes(URL.parse(url)?.protocol ?? "")) {
    reader.fail(`${name} must begin with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`);
  }
  return url;
}

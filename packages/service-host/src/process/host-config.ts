import { type Env, type EnvReader, readConfig } from "../env.ts";
import { readTlsFiles, type TlsFiles } from "../tls/settings.ts";

/** What every process reads from its environment, in addition to its own config. */
export interface HostConfig {
  /** Address that the RPC and operations servers bind. */
  host: string;
  rpcPort: number;
  opsPort: number;
  logLevel: string;
  tlsFiles: TlsFiles | undefined;
}

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

/** Throws one error that names every variable that is missing or malformed. */
export function readHostConfig(env: Env): HostConfig {
  return readConfig(env, (reader: EnvReader) => ({
    host: reader.text("BIND_HOST", "127.0.0.1"),
    rpcPort: reader.integer("RPC_PORT", { fallback: 0, min: 0, max: 65_535 }),
    opsPort: reader.integer("OPS_PORT", { fallback: 0, min: 0, max: 65_535 }),
    logLevel: reader.choice("LOG_LEVEL", LOG_LEVELS, "info"),
    tlsFiles: readTlsFiles(reader),
  }));
}

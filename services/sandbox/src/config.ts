import { type Env, type EnvReader, readConfig as read } from "@toolgate/service-host/env";
import { readProcessUrls } from "@toolgate/service-host/tls/settings";
import { DEFAULT_PROCESSES, MAX_PROCESSES } from "./limits.ts";

/** Whoever guesses the token may run code in the sandbox. */
const MIN_TOKEN_CHARACTERS = 32;
const HASH = /^[0-9a-f]{64}$/u;
/** The present one, and the previous or the next one. */
const MAX_TOKENS = 2;

/** How a service runs handlers. */
export interface SandboxSettings {
  /** So many workspaces have a process at the same time. */
  processes: number;
  /** The sandbox service: its base URLs, separated by commas. Undefined: the processes are children of this one. */
  remote: { urls: string; token: string } | undefined;
  /** Refuse to start when the machine has too few layers of isolation. */
  requireIsolation: boolean;
}

/** What the sandbox service reads, and all that it is given. */
export interface Config {
  /** SHA-256 of each token that is admitted, in hexadecimal digits: two while the token is being rotated. */
  tokenHashes: readonly string[];
  requireIsolation: boolean;
}

export function readConfig(env: Env): Config {
  return read(env, (reader) => ({
    tokenHashes: readTokenHashes(reader),
    requireIsolation: readRequireIsolation(reader),
  }));
}

export function readSandboxSettings(reader: EnvReader): SandboxSettings {
  return {
    processes: reader.integer("SANDBOX_PROCESSES", { fallback: DEFAULT_PROCESSES, min: 1, max: MAX_PROCESSES }),
    remote: readRemote(reader),
    requireIsolation: readRequireIsolation(reader),
  };
}

function readRemote(reader: EnvReader): SandboxSettings["remote"] {
  const urls = readProcessUrls(reader, "SANDBOX_URL", "");
  if (urls !== "") return { urls, token: reader.secret("SANDBOX_TOKEN", MIN_TOKEN_CHARACTERS) };
  if (reader.text("SANDBOX_TOKEN", "") !== "") reader.fail("SANDBOX_TOKEN needs SANDBOX_URL");
  return undefined;
}

function readTokenHashes(reader: EnvReader): readonly string[] {
  if (reader.text("SANDBOX_TOKEN_HASH") === "") return [];
  const hashes = reader.list("SANDBOX_TOKEN_HASH");
  if (hashes.length === 0 || hashes.length > MAX_TOKENS || !hashes.every((hash) => HASH.test(hash)))
    reader.fail(
      "SANDBOX_TOKEN_HASH must be the SHA-256 of the token, as 64 hexadecimal digits, or two of them, separated by a comma",
    );
  return hashes;
}

function readRequireIsolation(reader: EnvReader): boolean {
  const isProduction = reader.choice("NODE_ENV", ["production", "development", "test"], "production") === "production";
  return !reader.flag("SANDBOX_DANGEROUSLY_WEAK_ISOLATION", false) && isProduction;
}

import { type Env, type EnvReader, readConfig as read } from "@toolgate/service-host/env";
import { readProcessUrls } from "@toolgate/service-host/tls/settings";
import { type ProcessRoleOf, SERVICES } from "@toolgate/service-registry/services";

type ProcessRole = ProcessRoleOf<"tool-runner">;
const ROLES = Object.keys(SERVICES["tool-runner"].roles) as ProcessRole[];
/** Whoever guesses the token may run code in the sandbox. */
const MIN_TOKEN_CHARACTERS = 32;
const HASH = /^[0-9a-f]{64}$/u;
/** The present one, and the previous or the next one. */
const MAX_TOKENS = 2;

/** The sandbox processes of a tool-runner. */
export interface SandboxClient {
  /** Base URLs, separated by commas. */
  urls: string;
  token: string;
}

/** What a process with the role sandbox reads, and all that it is given. */
export interface SandboxConfig {
  /** Address that it binds. */
  host: string;
  port: number;
  /** SHA-256 of each token that is admitted, in hexadecimal digits: two while the token is being rotated. */
  tokenHashes: readonly string[];
  requireIsolation: boolean;
}

/** One process has one role: a sandbox holds no secrets, so it can't be a runner as well. */
export function readRole(env: Env): ProcessRole {
  return read(env, (reader) => reader.choice("ROLES", ROLES, "runner"));
}

export function readSandboxConfig(env: Env): SandboxConfig {
  return read(env, (reader) => {
    const tokenHashes = readTokenHashes(reader);
    return {
      host: reader.text("BIND_HOST", "127.0.0.1"),
      port: reader.integer("RPC_PORT", { fallback: 0, min: 0, max: 65_535 }),
      tokenHashes,
      requireIsolation: readRequireIsolation(reader),
    };
  });
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

/** Undefined when this process runs the children itself. */
export function readSandboxClient(reader: EnvReader): SandboxClient | undefined {
  reader.choice("ROLES", ["runner"], "runner");
  if (reader.text("SANDBOX_TOKEN_HASH", "") !== "") reader.fail("SANDBOX_TOKEN_HASH is for the role sandbox");
  const urls = readProcessUrls(reader, "SANDBOX_URL", "");
  if (urls === "") {
    if (reader.text("SANDBOX_TOKEN", "") !== "") reader.fail("SANDBOX_TOKEN needs SANDBOX_URL");
    return undefined;
  }
  return { urls, token: reader.secret("SANDBOX_TOKEN", MIN_TOKEN_CHARACTERS) };
}

export function readRequireIsolation(reader: EnvReader): boolean {
  const isProduction = reader.choice("NODE_ENV", ["production", "development", "test"], "production") === "production";
  return !reader.flag("SANDBOX_DANGEROUSLY_WEAK_ISOLATION", false) && isProduction;
}

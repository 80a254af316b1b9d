import { execFile } from "node:child_process";
import { access, constants, readdir } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const VERSION_TIMEOUT_MS = 5_000;

/** A server program that Toolgate can start, and where its package is found. */
export type Program = {
  readonly label: string;
  readonly executable: string;
  readonly minimum: Version;
  readonly debianPackage: string;
  readonly brewFormula: string;
};

export type Version = { readonly major: number; readonly minor: number };

/** An executable that answered `--version`. Its name is kept, not resolved: redis-server is a link to another program. */
export type Binary = { readonly path: string; readonly version: Version };

export const POSTGRES: Program = {
  label: "PostgreSQL",
  executable: "postgres",
  minimum: { major: 15, minor: 0 },
  debianPackage: "postgresql",
  brewFormula: "postgresql@17",
};

export const NATS: Program = {
  label: "nats-server",
  executable: "nats-server",
  minimum: { major: 2, minor: 9 },
  debianPackage: "nats-server",
  brewFormula: "nats-server",
};

export const REDIS: Program = {
  label: "redis-server",
  executable: "redis-server",
  minimum: { major: 6, minor: 2 },
  debianPackage: "redis-server",
  brewFormula: "redis",
};

/** True when `version` is at least `minimum`. */
export function reaches(version: Version, minimum: Version): boolean {
  return version.major > minimum.major || (version.major === minimum.major && version.minor >= minimum.minor);
}

/** The folders in which servers are looked for: PATH first, then where Debian and Homebrew keep them. */
export async function programFolders(path: string | undefined): Promise<string[]> {
  const versioned = await Promise.all([
    versionedFolders("/usr/lib/postgresql", /^\d+$/),
    versionedFolders("/opt/homebrew/opt", /^postgresql@\d+$/),
    versionedFolders("/usr/local/opt", /^postgresql@\d+$/),
  ]);
  const standing = ["/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin"];
  return [...new Set([...(path ?? "").split(delimiter).filter(Boolean), ...versioned.flat(), ...standing])];
}

/** The first executable in `folders` that is new enough and that `accept` takes. */
export async function findBinary(
  program: Program,
  folders: readonly string[],
  accept: (version: Version) => boolean = () => true,
): Promise<Binary | undefined> {
  for (const folder of folders) {
    const path = join(folder, program.executable);
    if (!(await isExecutable(path))) continue;
    const version = await readVersion(path);
    if (version && reaches(version, program.minimum) && accept(version)) return { path, version };
  }
  return undefined;
}

async function versionedFolders(parent: string, pattern: RegExp): Promise<string[]> {
  const names = await readdir(parent).catch(() => []);
  const byVersion = (name: string) => Number(name.replace(/\D/g, ""));
  return names
    .filter((name) => pattern.test(name))
    .sort((a, b) => byVersion(b) - byVersion(a))
    .map((name) => join(parent, name, "bin"));
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function readVersion(path: string): Promise<Version | undefined> {
  const answer = await promisify(execFile)(path, ["--version"], { timeout: VERSION_TIMEOUT_MS }).catch(() => undefined);
  const match = /(\d+)(?:\.(\d+))?/.exec(answer?.stdout ?? "");
  return match ? { major: Number(match[1]), minor: Number(match[2] ?? 0) } : undefined;
}

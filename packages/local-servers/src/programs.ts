import { execFile } from "node:child_process";
import { access, constants, readdir } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const VERSION_TIMEOUT_MS = 5_000;

/** A server program that Toolgate can start, and which packages contain it. */
type Program = {
  readonly label: string;
  readonly executable: string;
  readonly minimum: Version;
  readonly debianPackage: string;
  readonly brewFormula: string;
  /** Names a server that is already running, instead of starting one. */
  readonly variable: string;
};

export type Version = { readonly major: number; readonly minor: number };

/** An executable and its version. Links are not resolved: redis-server is a link to another program. */
export type Binary = { readonly path: string; readonly version: Version };

export const PROGRAMS = {
  postgres: {
    label: "PostgreSQL",
    executable: "postgres",
    minimum: { major: 15, minor: 0 },
    debianPackage: "postgresql",
    brewFormula: "postgresql@17",
    variable: "DATABASE_URL",
  },
  nats: {
    label: "nats-server",
    executable: "nats-server",
    minimum: { major: 2, minor: 9 },
    debianPackage: "nats-server",
    brewFormula: "nats-server",
    variable: "NATS_URL",
  },
  redis: {
    label: "redis-server",
    executable: "redis-server",
    minimum: { major: 6, minor: 2 },
    debianPackage: "redis-server",
    brewFormula: "redis",
    variable: "REDIS_URL",
  },
} as const satisfies Readonly<Record<string, Program>>;

export type ServerName = keyof typeof PROGRAMS;

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
  const usual = ["/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin"];
  return [...new Set([...(path ?? "").split(delimiter).filter(Boolean), ...versioned.flat(), ...usual])];
}

/** The first executable in `folders` that is new enough and that `accept` accepts. */
export async function findBinary(
  program: Program,
  folders: readonly string[],
  accept: (version: Version) => boolean = () => true,
): Promise<Binary | undefined> {
  for (const folder of folders) {
    const path = join(folder, program.executable);
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

async function readVersion(path: string): Promise<Version | undefined> {
  const ask = promisify(execFile);
  const { stdout } = await access(path, constants.X_OK)
    .then(() => ask(path, ["--version"], { timeout: VERSION_TIMEOUT_MS }))
    .catch(() => ({ stdout: "" }));
  const match = /(\d+)(?:\.(\d+))?/.exec(stdout);
  return match ? { major: Number(match[1]), minor: Number(match[2] ?? 0) } : undefined;
}

export type FoundPrograms = { readonly [name in ServerName]?: Binary };

export type ProgramSearch = {
  /** The folders to look in, read again after an installation. */
  folders(): Promise<string[]>;
  /** Installs Debian packages; false when this machine has no way to. */
  install(packages: string[]): Promise<boolean>;
  /** The version that made the existing PostgreSQL data: only this one can open it. */
  readonly clusterMajor?: number | undefined;
  readonly log: (line: string) => void;
};

/** Finds the programs of `names`, installing what is missing where that is possible; those still missing are left out. */
export async function findPrograms(names: readonly ServerName[], search: ProgramSearch): Promise<FoundPrograms> {
  const found = await lookFor(names, search);
  const missing = names.filter((name) => !found[name]);
  if (missing.length === 0) return found;
  search.log(`not found: ${describe(missing)}`);
  if (!(await search.install(missing.map((name) => PROGRAMS[name].debianPackage)))) return found;
  return { ...found, ...(await lookFor(missing, search)) };
}

/** One sentence for servers that can neither be found nor installed. */
export function missingSentence(missing: readonly ServerName[], clusterMajor?: number): string {
  const list = (key: "debianPackage" | "brewFormula" | "variable", separator = " ") =>
    missing.map((name) => PROGRAMS[name][key]).join(separator);
  const made = missing.includes("postgres") && clusterMajor ? ` (the data were made by version ${clusterMajor})` : "";
  const install = `"apt-get install ${list("debianPackage")}" or "brew install ${list("brewFormula")}"`;
  return `${describe(missing)} not found${made}: install with ${install}, or set ${list("variable", ", ")}`;
}

async function lookFor(names: readonly ServerName[], search: ProgramSearch): Promise<FoundPrograms> {
  const folders = await search.folders();
  const accept = (name: ServerName) => (version: Version) =>
    name !== "postgres" || search.clusterMajor === undefined || version.major === search.clusterMajor;
  const pairs = names.map(async (name) => [name, await findBinary(PROGRAMS[name], folders, accept(name))] as const);
  return Object.fromEntries((await Promise.all(pairs)).filter(([, binary]) => binary));
}

function describe(names: readonly ServerName[]): string {
  return names
    .map((name) => PROGRAMS[name])
    .map(({ label, minimum }) => `${label} ${minimum.major}${minimum.minor ? `.${minimum.minor}` : ""} or newer`)
    .join(", ");
}

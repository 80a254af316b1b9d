import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const VERSION_TIMEOUT_MS = 5_000;

export type ServerName = "postgres" | "nats" | "redis";

export type Version = { readonly major: number; readonly minor: number };

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

/** An executable and its version. Links are not resolved: redis-server is a link to another program. */
export type Binary = { readonly path: string; readonly version: Version };

const PROGRAMS: Readonly<Record<ServerName, Program>> = {
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
};

/** Where Debian and Homebrew keep PostgreSQL. */
const VERSIONED = [
  "/usr/lib/postgresql/*/bin",
  "/opt/homebrew/opt/postgresql@*/bin",
  "/usr/local/opt/postgresql@*/bin",
];
const USUAL = ["/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin"];

/** True when `version` is at least `minimum`. */
export function reaches(version: Version, minimum: Version): boolean {
  return version.major > minimum.major || (version.major === minimum.major && version.minor >= minimum.minor);
}

/** The folders in which servers are looked for: PATH first, then the usual ones, newer versions before older. */
export function programFolders(): string[] {
  const versioned = globSync(VERSIONED).sort((a, b) => b.localeCompare(a, "en", { numeric: true }));
  return [...(process.env.PATH ?? "").split(delimiter).filter(Boolean), ...versioned, ...USUAL];
}

type SearchOptions = {
  /** The version that made the existing PostgreSQL data: only this one can open it. */
  readonly clusterMajor?: number | undefined;
  /** Installs Debian packages; false when this machine has no way to. */
  readonly install?: (packages: string[]) => Promise<boolean>;
};

/** Finds the programs of `names`, and installs what is missing where that is possible. Throws when one is missing still. */
export async function findPrograms<Name extends ServerName>(
  names: readonly Name[],
  { clusterMajor, install = async () => false }: SearchOptions = {},
): Promise<Readonly<Record<Name, Binary>>> {
  const found: { [name in ServerName]?: Binary | undefined } = {};
  const lookFor = async () => {
    const folders = programFolders();
    for (const name of names) {
      found[name] ??= await findBinary(PROGRAMS[name], folders, name === "postgres" ? clusterMajor : undefined);
    }
    return names.filter((name) => !found[name]).map((name) => PROGRAMS[name]);
  };
  let missing = await lookFor();
  if (missing.length > 0 && (await install(missing.map(({ debianPackage }) => debianPackage))))
    missing = await lookFor();
  if (missing.length > 0) throw new Error(missingSentence(missing, clusterMajor));
  return found as Record<Name, Binary>;
}

/** The first executable in `folders` that is new enough, and of the version `major` if that is given. */
async function findBinary({ executable, minimum }: Program, folders: readonly string[], major: number | undefined) {
  for (const folder of folders) {
    const path = join(folder, executable);
    const version = await readVersion(path);
    if (version && reaches(version, minimum) && version.major === (major ?? version.major)) return { path, version };
  }
  return undefined;
}

function missingSentence(missing: readonly Program[], clusterMajor: number | undefined): string {
  const list = (text: (program: Program) => string, separator = " ") => missing.map(text).join(separator);
  const wanted = (program: Program) => {
    if (program === PROGRAMS.postgres && clusterMajor) return `PostgreSQL ${clusterMajor}, which made the data`;
    const { major, minor } = program.minimum;
    return `${program.label} ${minor ? `${major}.${minor}` : major} or newer`;
  };
  const apt = `apt-get install ${list((program) => program.debianPackage)}`;
  const brew = `brew install ${list((program) => program.brewFormula)}`;
  const variables = list((program) => program.variable, ", ");
  return `not found: ${list(wanted, ", ")}; install with "${apt}" or "${brew}", or set ${variables}`;
}

async function readVersion(path: string): Promise<Version | undefined> {
  const ask = promisify(execFile);
  const { stdout } = await access(path, constants.X_OK)
    .then(() => ask(path, ["--version"], { timeout: VERSION_TIMEOUT_MS }))
    .catch(() => ({ stdout: "" }));
  const match = /(\d+)(?:\.(\d+))?/.exec(stdout);
  return match ? { major: Number(match[1]), minor: Number(match[2] ?? 0) } : undefined;
}

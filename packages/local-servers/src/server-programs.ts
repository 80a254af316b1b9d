import { type Binary, findBinary, NATS, POSTGRES, type Program, REDIS, type Version } from "./binary.ts";

export type ServerName = "postgres" | "nats" | "redis";

export const PROGRAMS: Readonly<Record<ServerName, Program>> = { postgres: POSTGRES, nats: NATS, redis: REDIS };

export type FoundPrograms = { readonly [name in ServerName]?: Binary };

export type ProgramSearch = {
  /** The folders to look in, asked again after an installation. */
  folders(): Promise<string[]>;
  /** Installs Debian packages; false when this machine offers no way to do so. */
  install(packages: string[]): Promise<boolean>;
  /** The version that made the existing PostgreSQL data, which no other version can open. */
  readonly clusterMajor?: number | undefined;
  readonly log: (line: string) => void;
};

/** Finds the programs of `names`, installing what is missing where that is possible; what is still missing is left out. */
export async function findPrograms(names: readonly ServerName[], search: ProgramSearch): Promise<FoundPrograms> {
  const found = await lookFor(names, search);
  const missing = names.filter((name) => !found[name]);
  if (missing.length === 0) return found;
  const packages = missing.map((name) => PROGRAMS[name].debianPackage);
  search.log(`not found: ${describe(missing)}`);
  if (!(await search.install(packages))) return found;
  return { ...found, ...(await lookFor(missing, search)) };
}

/** One sentence for servers that can neither be found, nor installed, nor started with Docker. */
export function missingSentence(missing: readonly ServerName[], clusterMajor?: number): string {
  const programs = missing.map((name) => PROGRAMS[name]);
  const variables = missing.map((name) => ({ postgres: "DATABASE_URL", nats: "NATS_URL", redis: "REDIS_URL" })[name]);
  const made = missing.includes("postgres") && clusterMajor ? ` (the data were made by version ${clusterMajor})` : "";
  const debian = `apt-get install ${programs.map((program) => program.debianPackage).join(" ")}`;
  const brew = `brew install ${programs.map((program) => program.brewFormula).join(" ")}`;
  return `${describe(missing)} not found${made}: install with "${debian}" or "${brew}", start Docker, or set ${variables.join(", ")}`;
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

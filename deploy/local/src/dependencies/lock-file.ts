/** An npm package as package-lock.json lists it. */
export type LockedPackage = {
  version?: string;
  integrity?: string;
  license?: string;
  link?: boolean;
  os?: string | string[];
  cpu?: string | string[];
  libc?: string[];
  hasInstallScript?: boolean;
  optionalDependencies?: Record<string, string>;
};
export type LockFile = { packages: Record<string, LockedPackage> };
export type Manifest = Partial<
  Record<"dependencies" | "devDependencies" | "optionalDependencies", Record<string, string>>
>;

const FOLDER = "node_modules/";
const EXACT = /^\d+\.\d+\.\d+(-[\w.]+)?$/;

const LICENCES = new Set([
  "(AFL-2.1 OR BSD-3-Clause)",
  "(Apache-2.0 AND BSD-3-Clause)",
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "ISC",
  "MIT",
  "MIT OR Apache-2.0",
  "MIT-0",
  "MPL-2.0",
  "Unlicense",
]);

/** Packages that declare an install script but work without it: none is ever run (see .npmrc). */
const WORK_WITHOUT_THEIR_SCRIPT = new Set(["@bufbuild/buf", "isolated-vm", "protobufjs"]);

/** The packages from a registry by name, without those of this repository. */
export function* fetchedPackages(lock: LockFile): Generator<[name: string, LockedPackage]> {
  for (const [path, locked] of Object.entries(lock.packages)) {
    if (path.includes(FOLDER) && !locked.link) yield [path.slice(path.lastIndexOf(FOLDER) + FOLDER.length), locked];
  }
}

/** What must not be in a lock file, one line for each fault. */
export function lockFileFaults(lock: LockFile): string[] {
  const faults: string[] = [];
  const fetched = [...fetchedPackages(lock)];
  const names = new Set(fetched.map(([name]) => name));
  for (const [name, locked] of fetched) {
    const isPackage = `${name}@${locked.version}`;
    if (!locked.integrity && isForThisSystem(locked)) faults.push(`${isPackage} has no checksum`);
    if (locked.integrity && !LICENCES.has(locked.license ?? "")) {
      faults.push(`${isPackage} has the licence ${locked.license ?? "unknown"}, which is not in the list`);
    }
    if (locked.hasInstallScript && !WORK_WITHOUT_THEIR_SCRIPT.has(name)) {
      faults.push(`${isPackage} has an install script`);
    }
    // npm ci rejects a lock file without them, on every system.
    for (const optional of Object.keys(locked.optionalDependencies ?? {})) {
      if (!names.has(optional)) faults.push(`${optional}, which ${isPackage} may use, is not listed`);
    }
  }
  return faults;
}

/** Versions in a package.json that are not exact. */
export function manifestFaults({ dependencies, devDependencies, optionalDependencies }: Manifest): string[] {
  return Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })
    .filter(([, version]) => !EXACT.test(version))
    .map(([name, version]) => `the version of ${name} is not exact: ${version}`);
}

/** Binaries for other systems than Debian on x64 or arm64 are listed without a checksum: not every registry has them. */
function isForThisSystem({ os = "linux", cpu = "x64", libc }: LockedPackage): boolean {
  const isForCpu = [cpu].flat().some((name) => name === "x64" || name === "arm64");
  return [os].flat().includes("linux") && isForCpu && !libc?.includes("musl");
}

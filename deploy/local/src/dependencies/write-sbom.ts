// Writes what Toolgate consists of: sbom.cdx.json (CycloneDX) and licences.txt.
import { execFileSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { fetchedPackages } from "./lock-file.ts";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const folder = `${root}.data/sbom`;
const MAX_BYTES = 50_000_000;

const sbom = execFileSync("npm", ["sbom", "--package-lock-only", "--sbom-format=cyclonedx", "--omit=dev"], {
  cwd: root,
  maxBuffer: MAX_BYTES,
});
const lock = JSON.parse(await readFile(`${root}package-lock.json`, "utf8"));
const lines = new Set<string>();
for (const [name, { version, license }] of fetchedPackages(lock))
  lines.add(`${name} ${version}\t${license ?? "not listed"}`);
await mkdir(folder, { recursive: true });
await writeFile(`${folder}/sbom.cdx.json`, sbom);
await writeFile(`${folder}/licences.txt`, `${[...lines].sort().join("\n")}\n`);
console.log(`${folder}/sbom.cdx.json\n${folder}/licences.txt`);

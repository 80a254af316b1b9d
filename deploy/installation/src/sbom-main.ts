// Prints what is installed in this folder as CycloneDX: npm sbom refuses an installation of a single workspace.
import { readFileSync } from "node:fs";

interface Installed {
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly link?: boolean;
}

const root = new URL("../../../", import.meta.url);
const read = (path: string) => JSON.parse(readFileSync(new URL(path, root), "utf8"));
const FOLDER = "node_modules/";

const packages = read("node_modules/.package-lock.json").packages as Record<string, Installed>;
const components = Object.entries(packages)
  .filter(([path, { link }]) => path.includes(FOLDER) && !link)
  .map(([path, { version = "", integrity = "", license }]) => {
    const name = path.slice(path.lastIndexOf(FOLDER) + FOLDER.length);
    const purl = `pkg:npm/${name.replace(/^@/, "%40")}@${version}`;
    const content = Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex");
    return {
      "bom-ref": `${purl}#${path}`,
      type: "library",
      name,
      version,
      purl,
      ...(license && { licenses: [{ expression: license }] }),
      ...(content && { hashes: [{ alg: "SHA-512", content }] }),
    };
  });
const { name, version } = read("package.json");
const component = { "bom-ref": name, type: "application", name, version };
const bom = { bomFormat: "CycloneDX", specVersion: "1.5", version: 1, metadata: { component }, components };
process.stdout.write(`${JSON.stringify(bom, null, 2)}\n`);

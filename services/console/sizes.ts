import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";

/** What Vite says of each file that it has made. */
interface Chunk {
  file: string;
  css?: string[];
  imports?: string[];
  dynamicImports?: string[];
}

type Manifest = Readonly<Record<string, Chunk>>;

const KB = 1000;
/** Gzipped scripts and styles that a reader of a list loads: the shell and the list's page. */
const MAX_LIST_SCRIPTS = 225 * KB;
const MAX_LIST_STYLES = 15 * KB;
/** Scripts that anything opened from there adds. */
const MAX_FURTHER_SCRIPTS = 60 * KB;
const MAX_EDITOR_SCRIPTS = 160 * KB;
const LIST = /-page\.tsx$/;
const EDITOR = /code-mirror/;

/** Throws when a page of the built console is larger than its readers should have to load. */
export async function checkSizes(folder: string): Promise<void> {
  const manifest: Manifest = JSON.parse(await readFile(`${folder}manifest.json`, "utf8"));
  const shell = filesOf(manifest, "index.html");
  const problems: string[] = [];
  const check = async (what: string, files: Iterable<string>, max: number) => {
    const bytes = await gzippedBytes(folder, files);
    if (bytes > max) problems.push(`${what}: ${bytes} bytes, at most ${max}`);
  };
  for (const name of new Set(Object.values(manifest).flatMap(({ dynamicImports = [] }) => dynamicImports))) {
    const files = filesOf(manifest, name);
    const further = [...files].filter((file) => !shell.has(file) && file.endsWith(".js"));
    if (LIST.test(name)) {
      const all = [...files.union(shell)];
      await check(
        `scripts of ${name}`,
        all.filter((file) => file.endsWith(".js")),
        MAX_LIST_SCRIPTS,
      );
      await check(
        `styles of ${name}`,
        all.filter((file) => file.endsWith(".css")),
        MAX_LIST_STYLES,
      );
    }
    await check(name, further, EDITOR.test(name) ? MAX_EDITOR_SCRIPTS : MAX_FURTHER_SCRIPTS);
  }
  if (problems.length > 0) throw new Error(`The console has become too large:\n${problems.join("\n")}`);
}

/** A module's files and those that it cannot do without. */
function filesOf(manifest: Manifest, name: string, seen = new Set<string>()): Set<string> {
  const chunk = manifest[name];
  if (!chunk || seen.has(chunk.file)) return seen;
  for (const file of [chunk.file, ...(chunk.css ?? [])]) seen.add(file);
  for (const imported of chunk.imports ?? []) filesOf(manifest, imported, seen);
  return seen;
}

async function gzippedBytes(folder: string, files: Iterable<string>): Promise<number> {
  let bytes = 0;
  for (const file of files) bytes += gzipSync(await readFile(folder + file)).length;
  return bytes;
}

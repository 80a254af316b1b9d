import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { glob, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import { checkSizes } from "./sizes.ts";

const HERE = fileURLToPath(new URL("./", import.meta.url));
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SOURCES = [
  "package-lock.json",
  "services/console/*.{ts,html,json}",
  "services/console/src/**/*.*",
  "gen/toolgate/**/*.js",
  "packages/{api-examples,chat-client,chat-widget,rules}/src/**/*.ts",
];
const HASH_FILE = `${HERE}built/.sources`;
const COMPRESSED = /\.(?:js|css|html)$/;

/** Builds the pages into `built/`, unless they are there already for these sources. Takes about 5 s. */
export async function buildConsole(): Promise<void> {
  const hash = await hashOfSources();
  if (hash === (await readFile(HASH_FILE, "utf8").catch(() => ""))) return;
  // In a process of its own: it loads a compiler, and React's own checks are left out by this variable alone.
  const env = { ...process.env, NODE_ENV: "production" };
  const vite = fileURLToPath(new URL("../../bin/vite.js", import.meta.resolve("vite")));
  await promisify(execFile)(process.execPath, [vite, "build", "--logLevel", "error"], { cwd: HERE, env });
  await checkSizes(`${HERE}built/`);
  for await (const name of glob("built/**/*", { cwd: HERE })) {
    if (COMPRESSED.test(name)) await writeFile(`${HERE}${name}.br`, await compressed(await readFile(HERE + name)));
  }
  await writeFile(HASH_FILE, hash);
}

function compressed(bytes: Uint8Array): Promise<Buffer> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  return promisify(brotliCompress)(bytes, { params });
}

async function hashOfSources(): Promise<string> {
  const hash = createHash("sha256");
  const names: string[] = [];
  for await (const name of glob(SOURCES, { cwd: ROOT })) names.push(name);
  for (const name of names.sort())
    hash
      .update(name)
      .update("\0")
      .update(await readFile(ROOT + name));
  return hash.digest("hex");
}

if (import.meta.main) await buildConsole();

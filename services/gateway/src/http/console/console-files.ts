import { glob, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** A file of the console as it is sent: `compressed` with brotli, when that is worth it. */
export interface ConsoleFile {
  type: string;
  body: Buffer;
  compressed: Buffer | undefined;
}

const FOLDER = fileURLToPath(new URL("./built/", import.meta.resolve("@toolgate/console/index.html")));
const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  woff2: "font/woff2",
};

/** The built console by path below its folder, such as "index.html"; empty when it has not been built. */
export async function readConsoleFiles(): Promise<ReadonlyMap<string, ConsoleFile>> {
  const files = new Map<string, ConsoleFile>();
  for await (const name of glob("**/*.*", { cwd: FOLDER })) {
    const type = TYPES[name.split(".").at(-1) ?? ""];
    if (type === undefined) continue;
    const compressed = await readFile(`${FOLDER}${name}.br`).catch(() => undefined);
    files.set(name, { type, body: await readFile(FOLDER + name), compressed });
  }
  return files;
}

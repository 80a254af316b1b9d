import { execFile } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/** A block of code on a page of docs/. */
export interface Block {
  /** The heading of its section. */
  section: string;
  /** The language of its fence: sh, js or python. */
  language: string;
  code: string;
}

const DOCS = new URL("../../../../docs/", import.meta.url);
const DEADLINE_MS = 300_000;
/** Printed before the output of each block. */
const MARK = "== block ==";
const run = promisify(execFile);

/** The blocks that a reader runs, in order; `sections`: only those of these headings. */
export async function blocksOf(page: string, sections?: readonly string[]): Promise<Block[]> {
  const text = await readFile(new URL(page, DOCS), "utf8");
  return text.split(/^## /m).flatMap((part) => {
    const [section = "", ...lines] = part.split("\n");
    if (sections && !sections.includes(section)) return [];
    const fences = lines.join("\n").matchAll(/^```(sh|js|python)\n([\s\S]*?)^```$/gm);
    return [...fences].map(([, language = "", code = ""]) => ({ section, language, code }));
  });
}

/**
 * Runs the blocks in one shell, as the page says, in a folder with the files that `make run` leaves. Returns what each
 * block has printed. A command that fails, or the deadline, ends the run with an error.
 */
export async function runBlocks(
  blocks: readonly Block[],
  { folder, runJson }: { folder: string; runJson: object },
): Promise<string[]> {
  await mkdir(join(folder, ".data"), { recursive: true });
  await writeFile(join(folder, ".data", "run.json"), JSON.stringify(runJson));
  await symlink(DOCS, join(folder, "docs"));
  const commands: string[] = [];
  for (const [index, { language, code }] of blocks.entries()) {
    commands.push(`echo '${MARK}'`);
    if (language === "sh") commands.push(code);
    else {
      const file = language === "js" ? `sender${index}.mjs` : `sender${index}.py`;
      await writeFile(join(folder, file), code);
      commands.push(`${language === "js" ? `'${process.execPath}'` : "python3"} ${file}`);
    }
  }
  const script = join(folder, "page.sh");
  await writeFile(script, ["set -e", ...commands].join("\n"));
  const { stdout } = await run("bash", [script], { cwd: folder, timeout: DEADLINE_MS });
  return stdout.split(`${MARK}\n`).slice(1);
}

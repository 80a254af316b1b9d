import { cp, glob, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

const SITE = fileURLToPath(new URL("./", import.meta.url));
const PROJECT = path.resolve(SITE, "../..");
const PAGES = ["*.md", "docs/*.md", "docs/runbooks/*.md", "bench/RESULTS.md"];
const CONTENT = `${SITE}src/content/docs`;
const BASE = "/docs/";

/** Starlight wants a title in front matter, addresses instead of file names, and other files below `public/`. */
async function writePages(): Promise<void> {
  await Promise.all([
    rm(CONTENT, { recursive: true, force: true }),
    rm(`${SITE}public`, { recursive: true, force: true }),
  ]);
  await mkdir(`${SITE}src/content/i18n`, { recursive: true });
  await writeFile(`${SITE}src/content/i18n/en.json`, "{}");
  await cp(`${SITE}favicon.svg`, `${SITE}public/favicon.svg`);
  for await (const file of glob(PAGES, { cwd: PROJECT })) {
    const [heading = "", ...lines] = (await readFile(path.join(PROJECT, file), "utf8")).split("\n");
    const title = heading.replace(/^# /, "");
    const target = `${CONTENT}/${slugOf(file)}.md`;
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(
      target,
      `---\ntitle: ${JSON.stringify(title)}\n---\n${await withAddresses(lines.join("\n"), file)}`,
    );
  }
}

async function withAddresses(text: string, file: string): Promise<string> {
  const parts: string[] = [];
  let end = 0;
  for (const match of text.matchAll(/(?<=\]\()(?!https?:|#)([^)#\s]+)/g)) {
    const linked = path.join(path.dirname(file), match[0]);
    parts.push(text.slice(end, match.index), linked.endsWith(".md") ? addressOf(linked) : await publish(linked));
    end = match.index + match[0].length;
  }
  return parts.join("") + text.slice(end);
}

/** Copies a linked file that is no page, and returns its address. */
async function publish(file: string): Promise<string> {
  await cp(path.join(PROJECT, file), `${SITE}public/${slugOf(file)}`, { recursive: true });
  return BASE + slugOf(file);
}

function addressOf(page: string): string {
  const slug = slugOf(page);
  return slug === "index" ? BASE : `${BASE}${slug}/`;
}

/** `README.md` becomes `index`, `docs/runbooks/README.md` `runbooks`, `docs/tools.md` `tools` and `ARCHITECTURE.md` `architecture`. */
function slugOf(file: string): string {
  if (file === "README.md") return "index";
  return file
    .replace(/^docs\//, "")
    .replace(/\/README\.md$/, "")
    .replace(/\.md$/, "")
    .toLowerCase();
}

await writePages();

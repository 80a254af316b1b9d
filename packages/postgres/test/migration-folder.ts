import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";

/** A new folder with these migrations. */
export async function migrationFolder(files: Record<string, string>): Promise<string> {
  const dir = join(await temporaryFolder(), "migrations");
  await mkdir(dir);
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
  return dir;
}

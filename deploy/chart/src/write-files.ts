import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { generatedFiles } from "./generated-files.ts";
import { CHART } from "./paths.ts";

for (const [path, content] of Object.entries(generatedFiles())) {
  await mkdir(dirname(join(CHART, path)), { recursive: true });
  await writeFile(join(CHART, path), content);
}

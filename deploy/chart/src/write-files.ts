import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generatedFiles } from "./generated-files.ts";
import { CHART } from "./paths.ts";

for (const [path, content] of Object.entries(generatedFiles())) await writeFile(join(CHART, path), content);

import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { schemaCopies, withEventTypes } from "./docs.ts";

const PAGE = new URL("../../../docs/events.md", import.meta.url);
const SCHEMAS = new URL("../../../docs/events/", import.meta.url);

await writeFile(PAGE, withEventTypes(await readFile(PAGE, "utf8")));
for (const file of await readdir(SCHEMAS)) await rm(new URL(file, SCHEMAS));
for (const [file, schema] of schemaCopies()) {
  await writeFile(new URL(file, SCHEMAS), `${JSON.stringify(schema, null, 2)}\n`);
}

import { readFile } from "node:fs/promises";

/** The SQL queries in the section on hooks of docs/operators.md. */
export async function operatorQueries(): Promise<string[]> {
  const page = await readFile(new URL("../../../docs/operators.md", import.meta.url), "utf8");
  const section = page.split("\n## ").find((text) => text.startsWith("Running incoming hooks")) ?? "";
  return [...section.matchAll(/```sql\n(.*?)```/gs)].flatMap(([, block = ""]) =>
    block
      .split(";")
      .map((text) => text.replace(/^\s*--.*$/gm, "").trim())
      .filter((text) => text !== ""),
  );
}

import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { build } from "./build.ts";

test("the files that browsers load are built from the current sources", async () => {
  for (const [name, code] of await build()) {
    const built = await readFile(new URL(`../built/${name}`, import.meta.url), "utf8");
    expect(built === code, `${name} is old: run make gen`).toBe(true);
    expect(code.match(/\bimport\s*["'{]/g)).toBeNull();
  }
});

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { findChromium } from "./browser.ts";

test("Chromium is found in PATH under each of its names, unless CHROMIUM_PATH says where it is", async () => {
  const folder = await mkdtemp(join(tmpdir(), "toolgate-browser-"));
  try {
    const env = { PATH: ["/no/such/folder", folder].join(delimiter) };
    expect(findChromium(env)).toBeUndefined();
    for (const name of ["chromium-headless-shell", "chromium"]) {
      await writeFile(join(folder, name), "");
      expect(findChromium(env)).toBe(join(folder, name));
    }
    expect(findChromium({ ...env, CHROMIUM_PATH: "/opt/chrome" })).toBe("/opt/chrome");
    expect(findChromium({})).toBeUndefined();
  } finally {
    await rm(folder, { recursive: true });
  }
});

import { execFile } from "node:child_process";
import { chmod, readdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { expect, test } from "vitest";
import { REPOSITORY } from "../src/paths.ts";

/** Notes its arguments and does nothing; make cluster runs the script with the real programs. */
const PROGRAM = `#!/bin/sh
printf '%s\\n' "$@" >> "$ARGUMENTS"
`;
const SECRET = /[0-9a-f]{32,}|[\w+/-]{40,}=*/g;

test("the script for a trial gives no program a password as an argument, nor shows one", async () => {
  const folder = await temporaryFolder();
  for (const name of ["kubectl", "helm"]) {
    await writeFile(join(folder, name), PROGRAM);
    await chmod(join(folder, name), 0o755);
  }
  const FOLDER = join(folder, "trial");
  const ARGUMENTS = join(folder, "arguments");
  const env = { ...process.env, PATH: [folder, process.env.PATH].join(delimiter), FOLDER, ARGUMENTS };
  const { stdout, stderr } = await promisify(execFile)("sh", [join(REPOSITORY, "deploy/trial/install.sh")], { env });
  const given = await readFile(ARGUMENTS, "utf8");
  expect(given).toContain("toolgate-sandbox-token\n");

  const files = await readdir(FOLDER, { recursive: true, withFileTypes: true });
  const texts = await Promise.all(
    files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), "utf8")),
  );
  const secrets = new Set(texts.flatMap((text) => text.match(SECRET) ?? []));
  expect(secrets.size).toBeGreaterThan(10);
  for (const secret of secrets) {
    expect(given).not.toContain(secret);
    expect(stdout + stderr).not.toContain(secret);
  }
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** One command that has to succeed; its output matters only when it fails. */
export type Check = { readonly name: string; readonly command: string; readonly args: readonly string[] };

type CheckResult = { readonly name: string; readonly passed: boolean; readonly output: string };

/** The checks that need no test; `generatedDir` is where code is generated afresh, to be compared with what is committed. */
export function checks(generatedDir: string): Check[] {
  return [
    { name: "types", command: "tsc", args: ["--noEmit"] },
    { name: "format and lint", command: "biome", args: ["check", "."] },
    { name: "floating promises", command: "oxlint", args: ["--type-aware"] },
    { name: "proto lint", command: "buf", args: ["lint"] },
    { name: "proto compatibility", command: "buf", args: ["breaking", "--against", "proto/released.binpb"] },
    { name: "proto generation", command: "buf", args: ["generate", "--output", generatedDir] },
    {
      name: "generated code is fresh",
      command: "diff",
      args: ["-r", "--exclude=package.json", join(generatedDir, "gen"), "gen"],
    },
  ];
}

/** Runs every check in turn, also after a failure, and prints one line for each. */
export async function runChecks(root: string, log: (line: string) => void): Promise<CheckResult[]> {
  const generatedDir = await mkdtemp(join(tmpdir(), "toolgate-gen-"));
  const results: CheckResult[] = [];
  try {
    for (const check of checks(generatedDir)) {
      const result = await runCheck(check, root);
      log(`${result.passed ? "passed" : "FAILED"}  ${result.name}`);
      if (!result.passed) log(result.output.trimEnd());
      results.push(result);
    }
  } finally {
    await rm(generatedDir, { recursive: true, force: true });
  }
  return results;
}

async function runCheck({ name, command, args }: Check, root: string): Promise<CheckResult> {
  let output = "";
  try {
    const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    }
    const [code] = await once(child, "close");
    return { name, passed: code === 0, output };
  } catch (error) {
    return { name, passed: false, output: (error as Error).message };
  }
}

import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Tally } from "./tally.ts";

const MAX_OUTPUT_BYTES = 10_000_000;

/** Commands that must succeed, by name; `generatedDir` is where code is generated again, to compare it with `gen`. */
function checks(generatedDir: string): Record<string, [command: string, ...args: string[]]> {
  return {
    types: ["tsc", "--noEmit"],
    "types of code for browsers": ["tsc", "--noEmit", "--project", "packages/chat-widget"],
    "types of the console": ["tsc", "--noEmit", "--project", "services/console"],
    "format and lint": ["biome", "check", "."],
    "floating promises": ["oxlint", "--type-aware"],
    "proto lint": ["buf", "lint"],
    "proto compatibility": ["buf", "breaking", "--against", "proto/released.binpb"],
    "proto generation": ["buf", "generate", "--output", generatedDir],
    "generated code is fresh": ["diff", "-r", "--exclude=package.json", join(generatedDir, "gen"), "gen"],
  };
}

/** Runs every check, also after a failure; prints one line for each, and the output of those that fail. */
export async function runChecks(root: string, log: (line: string) => void): Promise<Tally> {
  const generatedDir = await mkdtemp(join(tmpdir(), "toolgate-gen-"));
  const tally = { passed: 0, failed: 0 };
  try {
    for (const [name, [command, ...args]] of Object.entries(checks(generatedDir))) {
      try {
        await promisify(execFile)(command, args, { cwd: root, maxBuffer: MAX_OUTPUT_BYTES });
        tally.passed += 1;
        log(`passed  ${name}`);
      } catch (error) {
        tally.failed += 1;
        const { stdout = "", stderr = "", message } = error as Error & { stdout?: string; stderr?: string };
        log(`FAILED  ${name}\n${(stdout + stderr).trimEnd() || message}`);
      }
    }
  } finally {
    await rm(generatedDir, { recursive: true, force: true });
  }
  return tally;
}

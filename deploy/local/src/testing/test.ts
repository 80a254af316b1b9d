// make test: all checks and the tests that everybody runs. make verify: the tests that take long; with the names of parts,
// only those. Both end with one line that counts.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runChecks } from "./checks.ts";
import { closingLine, failuresOf, type Tally, tallyTests } from "./tally.ts";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const [what, ...parts] = process.argv.slice(2);

// The terminal sends Ctrl-C to vitest as well, which stops its servers; this process waits for it and reports its outcome.
for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => {});
const tallies = what === "verify" ? await verify() : [await runChecks(root, console.log), await run("vitest", ["run"])];
console.log(closingLine(tallies));
if (tallies.some(({ failed }) => failed > 0)) process.exitCode = 1;

async function verify(): Promise<Tally[]> {
  const tallies: Tally[] = [];
  const others = parts.filter((part) => part !== "cluster");
  if (parts.length === 0 || others.length > 0) {
    tallies.push(await run("vitest", ["run", ...others], { ...process.env, VERIFY: "1" }));
  }
  if (parts.length === 0 || parts.includes("cluster")) {
    tallies.push(await run("node", ["deploy/cluster/src/main.ts"]));
  }
  return tallies;
}

/** Runs vitest, or what starts it. Without a report and without an error, everything was skipped. */
async function run(command: string, args: readonly string[], env = process.env): Promise<Tally> {
  const folder = await mkdtemp(join(tmpdir(), "toolgate-report-"));
  const file = join(folder, "report.json");
  try {
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
    const child = spawn(command, [...args, ...reporters], { cwd: root, stdio: "inherit", env });
    const forward = () => child.kill("SIGTERM");
    process.once("SIGTERM", forward);
    const [code] = (await once(child, "close")) as [number | null];
    process.off("SIGTERM", forward);
    const text = await readFile(file, "utf8").catch(() => undefined);
    if (text === undefined && code === 0) return { passed: 0, failed: 0, skipped: 1 };
    const report = text === undefined ? undefined : JSON.parse(text);
    for (const failure of failuresOf(report)) console.log(failure);
    return tallyTests(report, code);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

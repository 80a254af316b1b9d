import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runChecks } from "./checks.ts";
import { closingLine, failuresOf, type Tally, tallyTests } from "./tally.ts";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

// The terminal sends Ctrl-C to vitest as well, which stops its servers; this process waits for it and reports its outcome.
for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => {});
const tallies = [await runChecks(root, console.log), await runTests()];
console.log(closingLine(tallies));
if (tallies.some(({ failed }) => failed > 0)) process.exitCode = 1;

async function runTests(): Promise<Tally> {
  const folder = await mkdtemp(join(tmpdir(), "toolgate-report-"));
  const file = join(folder, "report.json");
  try {
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
    const vitest = spawn("vitest", ["run", ...reporters], { cwd: root, stdio: "inherit" });
    const forward = () => vitest.kill("SIGTERM");
    process.once("SIGTERM", forward);
    const [code] = (await once(vitest, "close")) as [number | null];
    const text = await readFile(file, "utf8").catch(() => undefined);
    const report = text === undefined ? undefined : JSON.parse(text);
    for (const failure of failuresOf(report)) console.log(failure);
    return tallyTests(report, code);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { REPOSITORY } from "./paths.ts";
import { makePrograms, whyNoPrograms } from "./programs.ts";

// make verify PART=cluster: compiles a control plane and runs the tests on it.
const missing = await whyNoPrograms();
if (missing !== undefined) {
  console.log(`skipped: the tests of the Helm chart on a control plane (${missing})`);
} else {
  await makePrograms(console.log);
  const config = join(REPOSITORY, "deploy/cluster/vitest.config.ts");
  const args = ["run", "--config", config, ...process.argv.slice(2)];
  const vitest = spawn("vitest", args, { cwd: REPOSITORY, stdio: "inherit" });
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => vitest.kill(name));
  const [code] = await once(vitest, "exit");
  process.exitCode = code ?? 1;
}

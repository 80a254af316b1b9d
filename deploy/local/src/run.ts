import { fileURLToPath } from "node:url";
import { buildConsole } from "@toolgate/console/build";
import { readConfig } from "./config.ts";
import { seedDemo } from "./demo/seed.ts";
import { runLocal } from "./local-run.ts";
import { listenForStop } from "./stopping.ts";
import { startTopology } from "./topology.ts";

const LINGER_MS = 500;

const root = fileURLToPath(new URL("../../../", import.meta.url));
// A run continues when its terminal or pipe is gone: only signals stop it.
for (const output of [process.stdout, process.stderr]) output.on("error", () => {});
const requests = listenForStop(process, () => performance.now());
try {
  const config = readConfig(process.env, root);
  const log = (line: string) => void process.stdout.write(`${line}\n`);
  await buildConsole();
  await runLocal(config, { ...requests, log }, { startTopology, seedDemo });
} catch (error) {
  const { name, message } = error as Error;
  const isInterruption = requests.stop.aborted && (error === requests.stop.reason || name === "AbortError");
  if (!isInterruption) {
    process.stderr.write(`${message}\n`);
    process.exitCode = 1;
  }
}
// Needed only when a service was interrupted while stopping: what it left open must not keep this process alive.
setTimeout(() => process.exit(), LINGER_MS).unref();

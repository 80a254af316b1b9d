import { fileURLToPath } from "node:url";
import { runChecks } from "./checks.ts";

const { failed } = await runChecks(fileURLToPath(new URL("../../../../", import.meta.url)), console.log);
if (failed > 0) process.exitCode = 1;

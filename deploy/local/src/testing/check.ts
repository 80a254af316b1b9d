import { fileURLToPath } from "node:url";
import { runChecks } from "./checks.ts";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const results = await runChecks(root, console.log);
if (results.some(({ passed }) => !passed)) process.exitCode = 1;

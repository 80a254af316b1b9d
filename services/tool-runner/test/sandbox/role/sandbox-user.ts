import { createSandboxPool } from "../../../src/sandbox/pool.ts";
import { resultOf } from "../sandbox-harness.ts";
import { spawnAt } from "./sandbox-role.ts";

/** A tool-runner's pool with children in a sandbox process, which never ends by itself. */
const [, , url = "", token = ""] = process.argv;
const pool = createSandboxPool({ processes: 1, spawn: spawnAt([{ url }], token), log: { warn: () => {} } });
await resultOf(pool, "export default async () => 1");
console.log("up");
setInterval(() => {}, 1_000);

import { openPool, resultOf } from "../sandbox-harness.ts";
import { spawnAt } from "./sandbox-service.ts";

/** A tool-runner's pool with children in a sandbox process, which never ends by itself. */
const [, , url = "", token = ""] = process.argv;
const pool = openPool({}, { processes: 1, spawn: spawnAt([{ url }], token) });
await resultOf(pool, "export default async () => 1");
console.log("up");
setInterval(() => {}, 1_000);

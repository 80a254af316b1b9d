import { openPool, resultOf } from "./sandbox-harness.ts";

/** A process that owns a pool, prints the ids of its children, and runs until it is killed. */
const pool = openPool();
await resultOf(pool, "export default () => 1");
console.log(JSON.stringify(pool.pids()));
setInterval(() => {}, 1_000);

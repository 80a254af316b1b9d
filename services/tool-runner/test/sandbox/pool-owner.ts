import { openPool, resultOf } from "./sandbox-harness.ts";

/** A process that owns a pool, tells its children's ids and stays until it is killed. */
const pool = openPool(2);
await resultOf(pool, "export default () => 1");
console.log(JSON.stringify(pool.pids()));
setInterval(() => {}, 1_000);

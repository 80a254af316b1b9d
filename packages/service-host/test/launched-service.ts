import { open } from "node:fs";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { readConfig } from "../src/env.ts";
import { launch } from "../src/process/launch.ts";

/** Stands in for outbound-webhook in the launch tests, as a separate process. Its calls last CALL_MS. */
await launch({
  name: "outbound-webhook",
  readConfig: (env) =>
    readConfig(env, (reader) => ({
      callMs: reader.integer("CALL_MS", { min: 0, max: 10_000 }),
      fault: reader.choice("FAULT", ["none", "start", "hang", "drain", "crash"], "none"),
      gate: reader.text("GATE", ""),
    })),
  async start({ callMs, fault, gate }, { log }) {
    if (fault === "start" || fault === "hang") setInterval(() => {}, 60_000);
    if (fault === "start") throw new Error("cannot reach postgres://user:hunter2@db.example/x");
    log.info("starting");
    if (fault === "hang") await new Promise(() => {});
    if (fault === "crash") setTimeout(() => Promise.reject(new Error("nobody waits for this")), 50);
    const keepsAlive = setInterval(() => {}, 60_000);
    return {
      routes(router) {
        // The RPC server is being made. With UV_THREADPOOL_SIZE=1, the thread that will look up its address waits here until
        // somebody opens the gate for writing.
        if (gate !== "" && "rpc" in router) open(gate, "r", () => {});
        router.service(SessionService, {
          async login() {
            log.info("called");
            await new Promise((resolve) => setTimeout(resolve, callMs));
            return { token: "finished" };
          },
        });
      },
      ready: async () => {},
      async drain() {
        if (fault === "drain") throw new Error("cannot drain");
      },
      async [Symbol.asyncDispose]() {
        clearInterval(keepsAlive);
        log.info("disposed");
      },
    };
  },
});

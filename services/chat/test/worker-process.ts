import { type Child, startChild } from "@toolgate/local-servers/child";
import { createLogger } from "@toolgate/service-host/logger";
import { createReadiness } from "@toolgate/service-host/process/readiness";
import { hotCallStreams, unaryRoutes } from "@toolgate/service-host/rpc/hot-calls";
import { startRpcServer } from "@toolgate/service-host/rpc/rpc-server";
import type { Service } from "@toolgate/service-host/service";
import { eventually } from "@toolgate/testbed/eventually";
import { identityEnv } from "@toolgate/testbed/service-identity";
import { testAuthentication } from "@toolgate/testbed/transports";
import type { ChatRig } from "./chat-rig.ts";

const STARTED_WITHIN_MS = 60_000;
const MAIN = new URL("../src/main.ts", import.meta.url).pathname;

export interface WorkerProcesses extends AsyncDisposable {
  /** Starts a process with the role worker, and waits until it takes turns. */
  start(): Promise<Child>;
}

/** Workers as processes of their own, with the rig's servers and its tool-runner, so that they can be killed. */
export async function workerProcesses({ tools, config }: ChatRig): Promise<WorkerProcesses> {
  await using opening = new AsyncDisposableStack();
  const log = createLogger({ service: "tool-runner", level: "silent" });
  const runner = tools.replicas[0] as Service;
  const streams = hotCallStreams("tool-runner", runner, { log, drainSignal: new AbortController().signal });
  const unary = unaryRoutes("tool-runner", runner);
  const rpc = opening.use(
    await startRpcServer({
      routes(router) {
        unary(router);
        streams.routes(router);
      },
      host: "127.0.0.1",
      port: 0,
      authentication: testAuthentication("tool-runner"),
      readiness: createReadiness(async () => {}),
      log,
    }),
  );
  const [key] = config.sealingKeys;
  const env = {
    NODE_ENV: "test",
    ROLES: "worker",
    DATABASE_URL: config.databaseUrl,
    NATS_URL: config.natsUrl,
    SEALING_KEYS: `${key?.version}:${key?.key.toString("base64")}`,
    ...identityEnv("chat"),
    TOOL_RUNNER_URL: `http://127.0.0.1:${rpc.port}`,
    ALLOWED_TARGETS: config.allowedTargets.join(","),
    LOG_LEVEL: "info",
  };
  const children: Child[] = [];
  opening.defer(async () => {
    await Promise.all(children.map((child) => child.end("SIGKILL", 0)));
  });
  const owned = opening.move();
  return {
    async start() {
      const child = startChild(process.execPath, [MAIN], { env, stdio: ["ignore", "pipe", "inherit"] });
      children.push(child);
      let output = "";
      child.process.stdout?.on("data", (chunk: Buffer) => {
        output = (output + chunk.toString()).slice(-10_000);
        if (process.env.TEST_LOG_LEVEL) process.stdout.write(chunk);
      });
      await eventually(
        () => {
          if (child.pid === 0) throw new Error(`the worker ended: ${output}`);
          return output.includes('"started"');
        },
        { deadlineMs: STARTED_WITHIN_MS },
      );
      return child;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

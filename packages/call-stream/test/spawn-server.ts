import type { ChildProcess } from "node:child_process";
import { fork } from "node:child_process";
import { once } from "node:events";

type SpawnedServer = AsyncDisposable & {
  readonly address: string;
  readonly port: number;
  readonly child: ChildProcess;
};

/** Starts `server-process.ts`; disposing kills it. */
export async function spawnServer(port = 0): Promise<SpawnedServer> {
  const child = fork(new URL("server-process.ts", import.meta.url), [`${port}`], { execArgv: [] });
  const [bound] = (await once(child, "message")) as [number];
  return {
    address: `http://127.0.0.1:${bound}`,
    port: bound,
    child,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
  };
}

import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { ProcessTls } from "@toolgate/service-host/tls/process-tls";
import type { SpawnProcess } from "../../src/processes/engine-process.ts";
import { spawnRemotely } from "../../src/processes/remote-process.ts";
import { isAlive } from "../sandbox-harness.ts";

export const TOKEN = "a-token-of-tests-with-enough-characters";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** A process of the service sandbox, started as an operator starts it. */
export type SandboxService = AsyncDisposable & {
  readonly url: string;
  readonly process: ChildProcess;
  readonly pid: number;
};

/** With several tokens, separated by commas, it admits each of them. */
export async function startSandbox(tokens = TOKEN, tls: Record<string, string> = {}): Promise<SandboxService> {
  const main = join(import.meta.dirname, "../../src/main.ts");
  const env = {
    NODE_ENV: "test",
    SANDBOX_TOKEN_HASH: tokens.split(",").map(sha256).join(", "),
    ...tls,
  };
  const child = spawn(process.execPath, [main], { env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  for await (const line of createInterface({ input: child.stdout })) {
    const { msg, rpcPort } = JSON.parse(line) as { msg: string; rpcPort?: number };
    if (msg !== "started") continue;
    child.stdout.resume();
    return {
      url: `${tls.TLS_CERT_FILE ? "https" : "http"}://127.0.0.1:${rpcPort}`,
      process: child,
      pid: child.pid ?? 0,
      async [Symbol.asyncDispose]() {
        if (!isAlive(child.pid ?? 0)) return;
        child.kill("SIGCONT");
        child.kill("SIGKILL");
        await ended;
      },
    };
  }
  throw new Error("the sandbox process did not start");
}

export function spawnAt(services: readonly { url: string }[], token = TOKEN, tls?: ProcessTls): SpawnProcess {
  return spawnRemotely({ addresses: async () => services.map(({ url }) => url), token, tls });
}

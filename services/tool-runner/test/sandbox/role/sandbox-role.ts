import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { ProcessTls } from "@toolgate/service-host/tls/process-tls";
import type { SpawnProcess } from "../../../src/sandbox/processes/engine-process.ts";
import { spawnInSandboxes } from "../../../src/sandbox/processes/remote/sandboxes.ts";
import { isAlive } from "../sandbox-harness.ts";

export const TOKEN = "a-token-of-tests-with-enough-characters";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** A process with the role sandbox, started as an operator starts it. */
export type SandboxRole = AsyncDisposable & {
  readonly url: string;
  readonly process: ChildProcess;
  readonly pid: number;
};

/** With several tokens, separated by commas, it admits each of them. */
export async function startSandboxRole(tokens = TOKEN, tls: Record<string, string> = {}): Promise<SandboxRole> {
  const main = join(import.meta.dirname, "../../../src/main.ts");
  const env = {
    ROLES: "sandbox",
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

export function spawnAt(
  roles: readonly { url: string }[],
  token = TOKEN,
  warnings: unknown[] = [],
  tls?: ProcessTls,
): SpawnProcess {
  return spawnInSandboxes({
    addresses: async () => roles.map(({ url }) => url),
    token,
    log: { warn: (fields, message) => warnings.push({ ...fields, message }) },
    tls,
  });
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { LIMIT_MIB, LIMIT_MS, type Subject, type Tenant } from "./subject.ts";

const PROGRAM = fileURLToPath(new URL("tenant-program.js", import.meta.url));

/** A locked-down Node process for each tenant, which is killed when a run takes too long. */
export function openProcesses(): Subject {
  return {
    name: "a locked-down Node process per tenant",
    async open(handler): Promise<Tenant> {
      const flags = ["--permission", `--allow-fs-read=${PROGRAM}`, `--max-old-space-size=${LIMIT_MIB}`];
      const child = spawn(process.execPath, [...flags, "--disable-warning=SecurityWarning", PROGRAM, handler], {
        env: {},
        stdio: ["pipe", "pipe", "inherit"],
      });
      const lines = createInterface({ input: child.stdout });
      const ended = once(child, "close");
      await once(lines, "line");
      return {
        pids: [child.pid ?? 0],
        call(argsJson) {
          const { promise, resolve, reject } = Promise.withResolvers<string>();
          const kill = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
          const onLine = (line: string) => {
            if (line.startsWith("call ")) child.stdin.write(`result ${line.slice("call ".length)}\n`);
            else resolve(line.slice("ok ".length));
          };
          lines.on("line", onLine);
          void ended.then(() => reject(new Error("killed")));
          child.stdin.write(`start ${argsJson}\n`);
          return promise.finally(() => {
            clearTimeout(kill);
            lines.off("line", onLine);
          });
        },
        async [Symbol.asyncDispose]() {
          child.kill("SIGKILL");
          await ended;
        },
      };
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** A process that cleans up after a test run, even one that was killed. */
type Reaper = {
  /** Cleans up now; returns when all servers of the run have stopped and its data is removed. */
  reap(): Promise<void>;
};

/**
 * Once `reap` is called or this process dies, even by SIGKILL, the reaper stops every server that has its data below
 * `runFolder` and removes the folder.
 */
export function startReaper(runFolder: string): Reaper {
  const script = fileURLToPath(new URL("./reaper.ts", import.meta.url));
  const child = spawn(process.execPath, [script, runFolder], { detached: true, stdio: ["pipe", "ignore", "inherit"] });
  const exited = once(child, "exit");
  // The reaper waits for the end of the test run, which must not wait for the reaper.
  child.unref();
  return {
    async reap() {
      child.ref();
      child.stdin.end();
      const [code] = await exited;
      if (code !== 0) throw new Error(`the servers of the test run could not be removed, see ${runFolder}`);
    },
  };
}

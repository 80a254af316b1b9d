import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** A process that outlives the test run by a moment and cleans up after it. */
export type Reaper = {
  /** Cleans up now; returns when no server of the run is left and its data is gone. */
  reap(): Promise<void>;
};

/**
 * Watches over the folder of a test run: once `reap` is called or this process dies, even by SIGKILL, it stops every
 * server that has its data below `runFolder` and removes the folder.
 */
export function startReaper(runFolder: string): Reaper {
  const script = fileURLToPath(new URL("./reaper.ts", import.meta.url));
  const child = spawn(process.execPath, [script, runFolder], { detached: true, stdio: ["pipe", "ignore", "inherit"] });
  const exited = once(child, "exit");
  // A test run that ends without tearing down must not wait for the process that waits for its end.
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

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { access } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { stopLeftovers } from "@toolgate/local-servers/data-folder";
import { freePort } from "@toolgate/local-servers/ports";
import { isAlive } from "@toolgate/local-servers/process-table";
import { eventually } from "@toolgate/testbed/eventually";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { expect, test } from "vitest";

const RUN = fileURLToPath(new URL("../src/run.ts", import.meta.url));
const START_DEADLINE_MS = 120_000;
const STOP_DEADLINE_MS = 60_000;

async function startRun(env: Record<string, string> = {}) {
  const dataDir = await temporaryFolder();
  const child = spawn(process.execPath, [RUN], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      DATA_DIR: dataDir,
      PORT: String(await freePort()),
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const children = () => childrenOf(child.pid ?? 0);
  const dispose = async () => {
    child.kill("SIGKILL");
    await stopLeftovers(dataDir);
  };
  return { child, dataDir, children, [Symbol.asyncDispose]: dispose };
}

async function childrenOf(parent: number): Promise<number[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid="]);
  const rows = stdout.split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  return rows.flatMap(([pid = 0, ppid]) => (ppid === parent ? [pid] : []));
}

async function interrupt(child: ChildProcess) {
  const exited = once(child, "exit");
  const since = performance.now();
  child.kill("SIGINT");
  const [code] = await exited;
  return { code, elapsedMs: performance.now() - since };
}

/** Accepts connections and sends nothing; tells whether any came. */
async function silentServer() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on("error", () => {})));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as { port: number };
  const dispose = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { url: `nats://127.0.0.1:${port}`, wasAsked: () => sockets.size > 0, [Symbol.dispose]: dispose };
}

test("a run continues without its terminal, and stops cleanly when it is asked to", async () => {
  await using run = await startRun();
  run.child.stdout?.destroy();
  run.child.stderr?.destroy();
  await eventually(() => access(join(run.dataDir, "run.json")), { deadlineMs: START_DEADLINE_MS });
  const children = await run.children();
  expect(children.length).toBeGreaterThanOrEqual(3);
  // The run has already printed its address; it prints again when it stops.
  expect((await interrupt(run.child)).code).toBe(0);
  expect(children.filter(isAlive)).toEqual([]);
});

test("a start that waits for a silent server is cut short in time", async () => {
  using silent = await silentServer();
  await using run = await startRun({ NATS_URL: silent.url });
  let printed = "";
  run.child.stderr?.on("data", (text) => {
    printed += text;
  });
  run.child.stdout?.resume();
  await eventually(() => silent.wasAsked(), { deadlineMs: START_DEADLINE_MS });
  const children = await run.children();
  const { code, elapsedMs } = await interrupt(run.child);
  expect({ code, printed }).toEqual({ code: 0, printed: "" });
  expect(elapsedMs).toBeLessThan(STOP_DEADLINE_MS);
  expect(children.filter(isAlive)).toEqual([]);
});

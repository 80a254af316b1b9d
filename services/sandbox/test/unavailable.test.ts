import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { freePort } from "@toolgate/local-servers/ports";
import { expect, test } from "vitest";
import { NO_ISOLATION } from "../src/isolation/detect.ts";
import type { SpawnProcess } from "../src/processes/engine-process.ts";
import { sandboxStatus } from "../src/processes/remote-process.ts";
import { startSandboxServer } from "../src/server.ts";
import { spawnAt, TOKEN } from "./remote/sandbox-service.ts";
import { handler, openPool, resultOf, runSource, until } from "./sandbox-harness.ts";

const WAIT_MS = 5_000;
const ENDLESS = `fs.writeSync(1, '{"done":0,"messages":[]}\\n'); for (const b = Buffer.alloc(65536, "["); ; ) fs.writeSync(1, b)`;
const hashOf = (token: string) => createHash("sha256").update(token).digest("hex");
const start = (port: number, token: string, maxProcesses?: number) =>
  startSandboxServer({
    host: "127.0.0.1",
    port,
    tokenHashes: [hashOf(token)],
    isolation: NO_ISOLATION,
    ...(maxProcesses !== undefined && { maxProcesses }),
  });

test("[ERR-18] runs wait 5 s for a sandbox that is down, then end as unavailable, and work again when it is back", async () => {
  const port = await freePort();
  const reasons: unknown[] = [];
  const log = { warn: ({ stderr }: Record<string, unknown>) => reasons.push(stderr) };
  await using pool = openPool({}, { spawn: spawnAt([{ url: `http://127.0.0.1:${port}` }]), log });
  const begun = performance.now();
  const [long, short] = await Promise.all([
    runSource(pool, handler("return 1"), { limits: { wallMs: 3_600_000 } }),
    runSource(pool, handler("return 1"), { workspaceId: "other", limits: { wallMs: 500 } }),
  ]);
  const waited = performance.now() - begun;
  expect([long.kind, short.kind]).toEqual(["unavailable", "unavailable"]);
  expect(waited).toBeGreaterThan(WAIT_MS - 1_000);
  expect(reasons[0]).toContain("ECONNREFUSED");
  await using _ = await start(port, TOKEN);
  await until("a process is up", () => pool.isReady());
  expect(await resultOf(pool, handler("return 1"))).toBe(1);
});

test("[ERR-18] a sandbox that does not know the token is unavailable, and one that is full is overloaded", async () => {
  await using stranger = await start(0, "another-token");
  await using full = await start(0, TOKEN, 0);
  const [unknown, crowded] = [stranger, full].map(({ port }) => `http://127.0.0.1:${port}`) as [string, string];
  const kinds = [unknown, crowded].map(async (url) => {
    await using pool = openPool({}, { spawn: spawnAt([{ url }]) });
    return (await runSource(pool, handler("return 1"), { limits: { wallMs: 2_000 } })).kind;
  });
  expect(await Promise.all(kinds)).toEqual(["unavailable", "overloaded"]);
  const asked = { token: TOKEN, signal: AbortSignal.timeout(60_000) };
  expect([await sandboxStatus(unknown, asked), await sandboxStatus(crowded, asked)]).toEqual([401, 503]);
});

test("[TOOL-2] a child that sends without end is ended before it fills the memory of its service", async () => {
  let sent = 0;
  const endless: SpawnProcess = ({ onData, onEnd }) => {
    const child = spawn(process.execPath, ["-e", ENDLESS]);
    child.stdout.on("data", (chunk: Buffer) => {
      sent += chunk.length;
      onData(chunk);
    });
    child.stdin.on("error", () => {});
    child.on("close", (code, signal) => onEnd({ code, signal, stderr: "" }));
    const kill = () => void child.kill("SIGKILL");
    return { pid: child.pid, write: (bytes, onWritten) => void child.stdin.write(bytes, onWritten), kill };
  };
  const reasons: unknown[] = [];
  const log = { warn: ({ killedFor }: Record<string, unknown>) => reasons.push(killedFor) };
  await using _pool = openPool({}, { spawn: endless, log });
  await until("a child is ended", () => reasons.length > 0);
  expect(reasons[0]).toBe("unresponsive");
  expect(sent).toBeLessThan(64 * 1024 * 1024);
});

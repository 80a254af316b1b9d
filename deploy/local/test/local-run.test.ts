import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { removeDataFolder } from "@toolgate/local-servers/data-folder";
import { openPorts } from "@toolgate/local-servers/ports";
import { isAlive, readPid } from "@toolgate/local-servers/process-table";
import { startServers } from "@toolgate/local-servers/start-servers";
import { eventually } from "@toolgate/testbed/eventually";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { afterEach, describe, expect, test } from "vitest";
import type { LocalConfig } from "../src/config.ts";
import { type Product, runLocal } from "../src/local-run.ts";

const SEEDED = {
  workspace: "demo",
  admin: { email: "admin@demo.test", password: "p" },
  apiKey: "svc_live_x",
  example: { tool: "echo", args: {} },
  hook: { path: "/api/v1/hooks/hk_x", secret: "whsec_x", tool: "echo", body: {} },
  chat: { assistant: "assistant", message: "hello" },
};

/** Minimal services: a listener that notes in which order it is stopped, relative to the servers. */
function product(events: string[], pidFiles: string[], changes: Partial<Product> = {}): Product {
  return {
    async startTopology(_kind, { port }) {
      const server = createServer((_, response) => response.end("ok"));
      await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
      const stop = async () => {
        const pids = await Promise.all(pidFiles.map(readPid));
        events.push(`services stop while ${pids.filter((pid) => pid && isAlive(pid)).length} servers run`);
        await new Promise((resolve) => server.close(resolve));
      };
      return { baseUrl: `http://127.0.0.1:${port}`, opsUrls: [], stop, pids: () => ({}) };
    },
    seedDemo: async () => SEEDED,
    ...changes,
  };
}

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await removeDataFolder(folder).catch(() => {});
});

async function prepare(changes: Partial<Product> = {}) {
  const dataDir = await temporaryFolder();
  folders.push(dataDir);
  const port = await openPorts(join(dataDir, "gateway-port.json")).take("gateway");
  const config: LocalConfig = { port, dataDir, topology: "single", allowedTargets: [] };
  const files = [join("postgres", "cluster", "postmaster.pid"), join("nats", "nats.pid"), join("redis", "redis.pid")];
  const pidFiles = files.map((file) => join(dataDir, file));
  const [stop, stopNow] = [new AbortController(), new AbortController()];
  const lines: string[] = [];
  const events: string[] = [];
  const control = { log: (line: string) => void lines.push(line), stop: stop.signal, stopNow: stopNow.signal };
  const run = () => runLocal(config, control, product(events, pidFiles, changes));
  const announced = () => eventually(() => lines.some((line) => line.includes("Toolgate runs at")));
  const livePids = async () => (await Promise.all(pidFiles.map(readPid))).filter((pid) => pid && isAlive(pid));
  return { config, control, run, stop, stopNow, lines, events, pidFiles, announced, livePids };
}

describe("make run", () => {
  test("announces itself, starts killed servers again, refuses a second run, and stops servers after services", async () => {
    const { config, run, stop, lines, events, pidFiles, announced, livePids } = await prepare();
    const running = run();
    await announced();
    const written = JSON.parse(await readFile(join(config.dataDir, "run.json"), "utf8"));
    expect(written.base_url).toBe(`http://127.0.0.1:${config.port}`);
    expect(lines.join("\n")).toContain("curl -i ");
    await expect(run()).rejects.toThrow("Toolgate already runs on");
    const before = await Promise.all(pidFiles.map(readPid));
    expect(await livePids()).toEqual(before);
    for (const pid of before) process.kill(pid ?? 0, "SIGKILL");
    await eventually(() => lines.filter((line) => line.endsWith("runs again")).length === 3);
    const after = await livePids();
    expect(after).toHaveLength(3);
    expect(before.some((pid) => after.includes(pid))).toBe(false);
    stop.abort();
    await running;
    expect(events).toEqual(["services stop while 3 servers run"]);
    expect(await livePids()).toEqual([]);
  });

  test("refuses a taken port before it starts anything", async () => {
    const { config, run, livePids } = await prepare();
    const stranger = createServer().listen(config.port, "127.0.0.1");
    await eventually(() => stranger.listening);
    await expect(run()).rejects.toThrow(new RegExp(`^port ${config.port} is taken: .*PORT=<port>$`));
    expect(await livePids()).toEqual([]);
    stranger.close();
  });

  test("stops the servers when the services cannot be started", async () => {
    const startTopology = async () => Promise.reject(new Error("no services"));
    const { run, lines, livePids } = await prepare({ startTopology });
    await expect(run()).rejects.toThrow("no services");
    expect(await livePids()).toEqual([]);
    expect(lines.filter((line) => line.includes("ended unexpectedly"))).toEqual([]);
  });

  test("cuts a start short when it is told to stop meanwhile", async () => {
    const reached = Promise.withResolvers<void>();
    const never = () => {
      reached.resolve();
      return new Promise<never>(() => {});
    };
    const { run, stop, livePids } = await prepare({ seedDemo: never });
    const running = run();
    await reached.promise;
    stop.abort(new Error("told to stop"));
    await expect(running).rejects.toThrow("told to stop");
    expect(await livePids()).toEqual([]);
  });

  test("stops what a killed run left running, even servers that are given to this run", async () => {
    const { config, control, stop, announced, livePids, events } = await prepare();
    await startServers({
      names: ["postgres", "nats", "redis"],
      dataDir: config.dataDir,
      log: () => {},
    });
    expect(await livePids()).toHaveLength(3);
    const elsewhere = {
      databaseUrl: "postgres://127.0.0.1:1",
      natsUrl: "nats://127.0.0.1:1",
      redisUrl: "redis://127.0.0.1:1",
    };
    const running = runLocal({ ...config, ...elsewhere }, control, product(events, []));
    await announced();
    expect(await livePids()).toEqual([]);
    stop.abort();
    await running;
  });

  test("when told to stop immediately, does not wait for services that do not stop, and ends their processes", async () => {
    const startTopology: Product["startTopology"] = async () => {
      const pids = () => ({});
      return { baseUrl: "http://127.0.0.1:1", opsUrls: [], stop: () => new Promise<void>(() => {}), pids };
    };
    const { run, stop, stopNow, lines, announced, livePids } = await prepare({ startTopology });
    const running = run();
    await announced();
    stop.abort();
    stopNow.abort();
    await running;
    expect(lines).toContain("the services did not stop in time and are killed");
    expect(await livePids()).toEqual([]);
  });

  test("uses the servers and targets that are given, and listens on a port that one of its own had before", async () => {
    const { config, control, stop, announced, livePids } = await prepare();
    await writeFile(join(config.dataDir, "ports.json"), JSON.stringify({ redis: config.port }));
    const given = {
      ...config,
      databaseUrl: "postgres://127.0.0.1:1",
      natsUrl: "nats://127.0.0.1:1",
      allowedTargets: ["a.test:1"],
    };
    const passed: string[] = [];
    const startTopology: Product["startTopology"] = async (_kind, settings) => {
      passed.push(settings.databaseUrl, settings.natsUrl, new URL(settings.redisUrl).protocol);
      passed.push(...settings.allowedTargets.slice(1));
      return { baseUrl: "http://127.0.0.1:1", opsUrls: [], stop: async () => {}, pids: () => ({}) };
    };
    const running = runLocal(given, control, { startTopology, seedDemo: async () => SEEDED });
    await Promise.race([announced(), running]);
    expect(passed).toEqual(["postgres://127.0.0.1:1", "nats://127.0.0.1:1", "redis:", "a.test:1"]);
    expect(await livePids()).toHaveLength(1);
    stop.abort();
    await running;
  });
});

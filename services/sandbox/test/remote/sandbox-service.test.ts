import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { connect } from "node:net";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import type { PoolLimits } from "../../src/limits.ts";
import { handler, isAlive, openPool as openSandboxPool, resultOf, runSource, until } from "../sandbox-harness.ts";
import { type SandboxService, spawnAt, startSandbox, TOKEN } from "./sandbox-service.ts";

const MIB = 1024 * 1024;

type Warn = (fields: Record<string, unknown>) => void;

function openPool(roles: readonly SandboxService[], limits: Partial<PoolLimits> = {}, warn: Warn = () => {}) {
  return openSandboxPool(limits, { spawn: spawnAt(roles), log: { warn } });
}

/** The processes below one, itself included. */
function processesOf(root: number): number[] {
  const rows = execFileSync("ps", ["-A", "-o", "pid=,ppid="])
    .toString()
    .split("\n")
    .map((line) => line.trim().split(/\s+/u).map(Number));
  const found = [root];
  for (const parent of found) for (const [pid = 0, ppid] of rows) if (ppid === parent) found.push(pid);
  return found;
}

/** Whether a process is Node, and not a program that prepares its layers or waits for it. */
function isNode(pid: number): boolean {
  try {
    return basename(readlinkSync(`/proc/${pid}/exe`)) === basename(realpathSync(process.execPath));
  } catch {
    return false;
  }
}

/** How many children it has. */
const childrenOf = ({ pid }: SandboxService) => processesOf(pid).filter(isNode).length - 1;

/** A run that has called the host and waits there. */
function holding(pool: ReturnType<typeof openPool>, workspaceId: string, onCall = () => {}) {
  const called = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<string>();
  const outcome = runSource(pool, handler("await ctx.callTool('hold'); return args.n"), {
    workspaceId,
    codeKey: `hold-${workspaceId}`,
    args: { n: 1 },
    limits: { wallMs: 600_000 },
    onHostCall: () => {
      onCall();
      called.resolve();
      return gate.promise;
    },
  });
  return { called: called.promise, release: () => gate.resolve("null"), outcome };
}

describe("a sandbox process", () => {
  it("[TOOL-2] runs handlers as the service itself does, with host calls, large data and limits", async () => {
    await using role = await startSandbox();
    const ends: unknown[] = [];
    await using pool = openPool([role], {}, ({ killedFor }) => ends.push(killedFor));
    expect(
      await resultOf(pool, handler("return (await ctx.callTool('plus', args.n))[1] + 1"), { args: { n: 1 } }),
    ).toBe(2);
    const big = "x".repeat(6 * MIB);
    const onHostCall = async () => JSON.stringify(big);
    const length = handler("return args.big.length + (await ctx.callTool('x')).length");
    expect(await resultOf(pool, length, { args: { big }, onHostCall, limits: { cpuMs: 10_000 } })).toBe(12 * MIB);
    const many = Array.from({ length: 200 }, (_, n) => resultOf(pool, handler("return args.n"), { args: { n } }));
    expect(await Promise.all(many)).toEqual(Array.from({ length: 200 }, (_, n) => n));
    const result = handler(`return 'y'.repeat(${2 * MIB})`);
    expect(await resultOf(pool, result, { limits: { resultBytes: 3 * MIB } })).toHaveLength(2 * MIB);
    expect((await runSource(pool, handler("for (;;) {}"))).kind).toBe("cpu");
    expect(ends).toEqual([]);
    const bomb = handler("Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)");
    expect((await runSource(pool, bomb, { workspaceId: "bomber" })).kind).toBe("cpu");
    expect(ends).toEqual(["cpu"]);
    expect(await resultOf(pool, handler("return 3"))).toBe(3);
  });

  it("[TOOL-2] has its children ended for their memory", async () => {
    await using role = await startSandbox();
    const ends: unknown[] = [];
    await using pool = openPool([role], { childRssMib: 224, stallMs: 60_000 }, ({ killedFor }) => ends.push(killedFor));
    const keeps = handler(
      `const kept = []; try { for (;;) kept.push(new Uint8Array(${MIB}).fill(1)) } catch {} await ctx.callTool('hold')`,
    );
    const gate = Promise.withResolvers<string>();
    const onHostCall = () => gate.promise;
    const runs = Array.from({ length: 8 }, (_, n) =>
      runSource(pool, keeps, { codeKey: `t${n}`, onHostCall, limits: { cpuMs: 5_000 } }),
    );
    await until("a child is ended", () => ends.length > 0);
    gate.resolve("null");
    await Promise.all(runs);
    expect(ends[0]).toBe("memory");
  });

  it("[TOOL-2] that dies cuts off the runs that have called the host; the others begin again elsewhere, and runs elsewhere continue", async () => {
    const [first, second] = await Promise.all([startSandbox(), startSandbox()]);
    await using _first = first;
    await using _second = second;
    await using pool = openPool([first, second]);
    const held = Array.from({ length: 6 }, (_, n) => holding(pool, `w${n}`));
    await Promise.all(held.map(({ called }) => called));
    const pure = Array.from({ length: 40 }, (_, n) =>
      resultOf(pool, handler("let s = 0; for (let n = 0; n < 3e6; n += 1) s += n % 7; return args.n"), {
        args: { n },
        codeKey: `pure-${n % 8}`,
        limits: { cpuMs: 5_000 },
      }),
    );
    first.process.kill("SIGKILL");
    expect(await Promise.all(pure)).toEqual(Array.from({ length: 40 }, (_, n) => n));
    for (const { release } of held) release();
    const outcomes = await Promise.all(held.map(({ outcome }) => outcome));
    // Each has some of the workspaces.
    expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(["ok", "interrupted"]));
  });

  it("[TOOL-2] that vanishes without closing its connections is noticed long before its runs time out", async () => {
    await using role = await startSandbox();
    await using pool = openPool([role]);
    const { called, outcome } = holding(pool, "w");
    await called;
    role.process.kill("SIGSTOP");
    expect((await outcome).kind).toBe("interrupted");
  });

  it("[TOOL-2] ends its children when their tool-runner dies or vanishes", async () => {
    await using role = await startSandbox();
    for (const signal of ["SIGKILL", "SIGSTOP"] as const) {
      const user = spawn(process.execPath, [join(import.meta.dirname, "sandbox-user.ts"), role.url, TOKEN], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      await once(user.stdout, "data");
      const children = processesOf(role.pid).filter((pid) => pid !== role.pid);
      expect(children.length).toBeGreaterThan(0);
      user.kill(signal);
      await until(`no child is left after ${signal}`, () => !children.some(isAlive));
      user.kill("SIGKILL");
    }
  });

  it("[TOOL-2] that is told to stop gives its runs time, while new ones start elsewhere", async () => {
    const [first, second] = await Promise.all([startSandbox(), startSandbox()]);
    await using _second = second;
    await using _first = first;
    const roles = [first];
    await using pool = openPool(roles);
    const { called, release, outcome } = holding(pool, "w");
    await called;
    roles.push(second);
    first.process.kill("SIGTERM");
    expect(await resultOf(pool, handler("return 2"), { workspaceId: "other" })).toBe(2);
    await until("the other one has a child", () => processesOf(second.pid).length > 1);
    release();
    expect((await outcome).kind).toBe("ok");
    const [code] = first.process.exitCode === null ? await once(first.process, "close") : [first.process.exitCode];
    expect(code).toBe(0);
  });

  it("[TOOL-2] that is added or comes back gets the next processes, and no run is lost meanwhile", async () => {
    await using first = await startSandbox();
    const roles = [first];
    await using pool = openPool(roles);
    const { called, release, outcome } = holding(pool, "w");
    await called;
    await using second = await startSandbox();
    roles.push(second);
    for (let n = 0; n < 4; n += 1) expect(await resultOf(pool, handler("return 1"), { workspaceId: `w${n}` })).toBe(1);
    await until("the other one has as many", () => childrenOf(second) >= childrenOf(first) - 1);
    release();
    expect((await outcome).kind).toBe("ok");
  });

  it("[TOOL-2] refuses those without the token, and speaks nothing else", async () => {
    await using role = await startSandbox();
    const warnings: Record<string, unknown>[] = [];
    const log = { warn: (fields: Record<string, unknown>) => warnings.push(fields) };
    await using pool = openSandboxPool({}, { spawn: spawnAt([role], `${TOKEN}x`), log });
    expect((await runSource(pool, handler("return 1"), { limits: { wallMs: 1_500 } })).kind).toBe("unavailable");
    expect(pool.isReady()).toBe(false);
    expect(warnings[0]?.stderr).toContain("401");
    // The same reason is not logged again and again.
    expect(warnings).toHaveLength(1);
    expect(processesOf(role.pid)).toEqual([role.pid]);
    const answerTo = async (sent: string) => {
      const socket = connect(Number(new URL(role.url).port), "127.0.0.1");
      socket.on("error", () => {});
      socket.end(sent);
      return text(socket);
    };
    expect(await answerTo("GET / HTTP/1.1\r\nHost: x\r\n\r\n")).not.toContain("200");
    await answerTo("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff\xff\xff\xff\xff");
    expect(isAlive(role.pid)).toBe(true);
    expect(processesOf(role.pid)).toEqual([role.pid]);
  });

  it("[TOOL-2] a token is rotated without a run that fails: a sandbox process admits the old one and the new one", async () => {
    const [old, next] = [TOKEN, `${TOKEN}-next`];
    await using both = await startSandbox(`${next},${old}`);
    await using before = openSandboxPool({}, { spawn: spawnAt([both], old) });
    await using after = openSandboxPool({}, { spawn: spawnAt([both], next) });
    expect(await Promise.all([before, after].map((pool) => resultOf(pool, handler("return 1"))))).toEqual([1, 1]);
    await using only = await startSandbox(next);
    await using refused = openSandboxPool({}, { spawn: spawnAt([only], old) });
    expect((await runSource(refused, handler("return 1"), { limits: { wallMs: 1_500 } })).kind).toBe("unavailable");
  });

  it("[TOOL-2] has no secret in its environment, and its children have neither an environment nor its connections", async () => {
    await using role = await startSandbox();
    await using pool = openPool([role]);
    await resultOf(pool, handler("return 1"));
    const environment = readFileSync(`/proc/${role.pid}/environ`, "utf8");
    expect(
      environment
        .split("\0")
        .map((entry) => entry.split("=")[0])
        .filter(Boolean)
        .sort(),
    ).toEqual(["NODE_ENV", "SANDBOX_TOKEN_HASH"]);
    expect(environment).not.toContain(TOKEN);
    const children = processesOf(role.pid).filter((pid) => pid !== role.pid);
    expect(children.length).toBeGreaterThan(0);
    for (const pid of children) {
      expect(readFileSync(`/proc/${pid}/environ`, "utf8")).toBe("");
      const files = readdirSync(`/proc/${pid}/fd`).map((fd) => `${fd} ${readlinkSync(`/proc/${pid}/fd/${fd}`)}`);
      // Its input and output are sockets without addresses.
      expect(files.filter((file) => file.includes("socket:") && Number(file.split(" ")[0]) > 2)).toEqual([]);
    }
  });
});

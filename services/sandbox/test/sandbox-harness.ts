import { HOST_FUNCTIONS } from "@toolgate/tool-runner/domain/host-functions";
import { compileHandler } from "../src/compile.ts";
import { detectIsolation, type Isolation } from "../src/isolation/detect.ts";
import type { PoolLimits } from "../src/limits.ts";
import { createSandboxPool, type SandboxPool } from "../src/pool.ts";
import type { SpawnProcess } from "../src/processes/engine-process.ts";
import { LocalProcess } from "../src/processes/local-process.ts";
import type { HostCall, SandboxLog, SandboxOutcome, SandboxRequest } from "../src/request.ts";

const POLL_MS = 10;
const ISOLATION = detectIsolation();

interface Parts {
  processes: number;
  now: () => number;
  log: SandboxLog;
  spawn: SpawnProcess;
}

export function openPool(limits: Partial<PoolLimits> = {}, parts: Partial<Parts> = {}): SandboxPool {
  return createSandboxPool({
    processes: 8,
    functions: HOST_FUNCTIONS,
    limits,
    now: () => performance.now(),
    log: { warn: () => {} },
    spawn: spawnIn(ISOLATION),
    ...parts,
  });
}

export function spawnIn(isolation: Isolation): SpawnProcess {
  return (events) => new LocalProcess(isolation, events);
}

/** The source of a tool with this body. */
export const handler = (body: string) => `export default async (args, ctx) => { ${body} }`;

export function compiled(source: string): string {
  const result = compileHandler(source);
  if (!result.ok) throw new Error(JSON.stringify(result.violations));
  return result.code;
}

type RunOptions = Partial<Omit<SandboxRequest, "limits">> & {
  args?: unknown;
  limits?: Partial<SandboxRequest["limits"]>;
};

export const echo: HostCall = async (_name, argsJson) => argsJson;

export function runSource(pool: SandboxPool, source: string, options: RunOptions = {}): Promise<SandboxOutcome> {
  const { args = {}, limits, ...rest } = options;
  return pool.run({
    workspaceId: "workspace",
    codeKey: `tool:${source}`,
    code: compiled(source),
    argsJson: JSON.stringify(args),
    context: { readOnly: true, testMode: false },
    onHostCall: echo,
    ...rest,
    limits: { wallMs: 60_000, cpuMs: 1_000, resultBytes: 64 * 1024, ...limits },
  });
}

/** The result of a run that must succeed. */
export async function resultOf(pool: SandboxPool, source: string, options: RunOptions = {}): Promise<unknown> {
  const outcome = await runSource(pool, source, options);
  if (outcome.kind !== "ok") throw new Error(`${outcome.kind}: ${outcome.message}`);
  return JSON.parse(outcome.resultJson);
}

export async function until(what: string, isTrue: () => boolean, withinMs = 120_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!isTrue()) {
    if (performance.now() > deadline) throw new Error(`Not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Four tools of another workspace that run all the time. */
export type Neighbours = {
  stop: () => Promise<{ runs: number; failures: SandboxOutcome[] }>;
  runs: () => number;
  failures: () => SandboxOutcome[];
};

export const NEIGHBOUR_LANES = 4;

export function startNeighbours(pool: SandboxPool): Neighbours {
  const source = "export default async (args, ctx) => ({ n: (await ctx.callTool('plus', args.n))[1] + 1 })";
  const failures: SandboxOutcome[] = [];
  let going = true;
  let runs = 0;
  const live = async (codeKey: string) => {
    for (let n = 0; going; n += 1) {
      const outcome = await runSource(pool, source, { workspaceId: "neighbours", codeKey, args: { n } });
      runs += 1;
      const right = outcome.kind === "ok" && outcome.resultJson === JSON.stringify({ n: n + 1 });
      if (!right) failures.push(outcome);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  const lives = Array.from({ length: NEIGHBOUR_LANES }, (_, lane) => live(`neighbour-${lane}`));
  return {
    runs: () => runs,
    failures: () => [...failures],
    stop: async () => {
      going = false;
      await Promise.all(lives);
      return { runs, failures };
    },
  };
}

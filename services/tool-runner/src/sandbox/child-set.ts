import { type ChildEnd, type ChildEvents, type SandboxChild, startSandboxChild } from "./sandbox-child.ts";

const FIRST_RESPAWN_MS = 200;
const LONGEST_RESPAWN_MS = 10_000;

/** The children: the ordinary ones, one for suspects once there are any, and a warm spare to step in for either. */
export type ChildSet = AsyncDisposable & {
  readonly workers: readonly SandboxChild[];
  readonly annex: SandboxChild | undefined;
  openAnnex: () => void;
  all: () => SandboxChild[];
};

export function createChildSet(size: number, events: ChildEvents, now: () => number): ChildSet {
  let workers: SandboxChild[] = [];
  let annex: SandboxChild | undefined;
  let spare: SandboxChild | undefined;
  let wantsAnnex = false;
  let closed = false;
  let respawnMs = 0;
  let timer: NodeJS.Timeout | undefined;

  const onEnd = (child: SandboxChild, end: ChildEnd) => {
    const wasReady = child.runs.size > 0 || child.lastLedger > 0 || child.verdict !== undefined;
    respawnMs = wasReady ? 0 : Math.min(LONGEST_RESPAWN_MS, Math.max(FIRST_RESPAWN_MS, respawnMs * 2));
    workers = workers.filter((other) => other !== child);
    if (annex === child) annex = undefined;
    if (spare === child) spare = undefined;
    if (respawnMs === 0) fill();
    else timer ??= setTimeout(refill, respawnMs);
    events.onEnd(child, end);
  };
  const refill = () => {
    timer = undefined;
    fill();
  };
  const spawnOne = () => startSandboxChild({ ...events, onEnd }, now);
  const takeOne = () => {
    const taken = spare ?? spawnOne();
    spare = undefined;
    return taken;
  };
  const fill = () => {
    if (closed) return;
    while (workers.length < size) workers.push(takeOne());
    if (wantsAnnex) annex ??= takeOne();
    spare ??= spawnOne();
  };
  const all = () => [...workers, annex, spare].filter((child) => child !== undefined);

  fill();
  return {
    get workers() {
      return workers;
    },
    get annex() {
      return annex;
    },
    openAnnex: () => {
      wantsAnnex = true;
      fill();
    },
    all,
    [Symbol.asyncDispose]: async () => {
      closed = true;
      clearTimeout(timer);
      await Promise.all(all().map((child) => child[Symbol.asyncDispose]()));
    },
  };
}

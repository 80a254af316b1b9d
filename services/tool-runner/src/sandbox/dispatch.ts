import type { ActiveRun } from "./active-run.ts";
import type { ChildSet } from "./child-set.ts";
import type { Quarantine } from "./quarantine.ts";
import type { SandboxChild } from "./sandbox-child.ts";

/** So many starts may be on their way into a child; more would only wait there instead of here. */
const UNBEGUN_PER_CHILD = 64;
/** A tool stays with the child that has it warm until so many starts wait there. */
const UNBEGUN_BEFORE_SPREADING = 8;

/** The runs that wait for a child, suspects apart from the others. */
export type Dispatch = {
  add: (run: ActiveRun) => void;
  addFirst: (run: ActiveRun) => void;
  pump: () => void;
};

export function createDispatch(
  children: () => ChildSet,
  quarantine: Quarantine,
  begin: (child: SandboxChild, run: ActiveRun) => void,
): Dispatch {
  const lanes: Lanes = new Map();
  const suspects: Lanes = new Map();

  const laneOf = (run: ActiveRun) => {
    const suspect = quarantine.holds(run.request.key);
    if (suspect) children().openAnnex();
    return laneIn(suspect ? suspects : lanes, run.request.workspaceId);
  };
  return {
    add: (run) => laneOf(run).push(run),
    addFirst: (run) => laneOf(run).unshift(run),
    pump: () => {
      const { workers, annex } = children();
      serve(lanes, workers, begin);
      if (annex !== undefined) serve(suspects, [annex], begin);
    },
  };
}

/** One run of each workspace in turn; a workspace whose next run finds no room does not hold up the others. */
function serve(lanes: Lanes, children: readonly SandboxChild[], begin: (child: SandboxChild, run: ActiveRun) => void) {
  if (lanes.size === 0 || !children.some(takesStarts)) return;
  const blocked: [string, Queue][] = [];
  // Maps keep the order of insertion, so what is put back comes after the others.
  for (let [next] = lanes; next !== undefined; [next] = lanes) {
    const [workspaceId, lane] = next;
    lanes.delete(workspaceId);
    const run = firstWaiting(lane);
    if (run === undefined) continue;
    const child = pickChild(children, run);
    if (child === undefined) {
      blocked.push(next);
      continue;
    }
    lane.shift();
    begin(child, run);
    lanes.set(workspaceId, lane);
  }
  for (const [workspaceId, lane] of blocked) lanes.set(workspaceId, lane);
}

function firstWaiting(lane: Queue): ActiveRun | undefined {
  while (lane.peek()?.settled) lane.shift();
  return lane.peek();
}

function takesStarts(child: SandboxChild): boolean {
  return child.ready && !child.stalled && !child.ended && child.unbegun < UNBEGUN_PER_CHILD;
}

function hasRoom(child: SandboxChild, run: ActiveRun): boolean {
  return takesStarts(child) && child.runs.hasIsolateFor(run);
}

function pickChild(children: readonly SandboxChild[], run: ActiveRun): SandboxChild | undefined {
  const home = children[hash(run.request.key) % children.length];
  if (home !== undefined && hasRoom(home, run) && home.unbegun < UNBEGUN_BEFORE_SPREADING) return home;
  let best: SandboxChild | undefined;
  for (const child of children) {
    if (hasRoom(child, run) && child.unbegun < (best?.unbegun ?? Number.POSITIVE_INFINITY)) best = child;
  }
  return best;
}

function hash(key: string): number {
  let sum = 0;
  for (let at = 0; at < key.length; at += 1) sum = (Math.imul(sum, 31) + key.charCodeAt(at)) >>> 0;
  return sum;
}

/** The waiting runs of each workspace. */
type Lanes = Map<string, Queue>;

function laneIn(lanes: Lanes, workspaceId: string): Queue {
  const known = lanes.get(workspaceId);
  if (known !== undefined) return known;
  const lane = createQueue();
  lanes.set(workspaceId, lane);
  return lane;
}

type Queue = {
  push: (run: ActiveRun) => void;
  unshift: (run: ActiveRun) => void;
  peek: () => ActiveRun | undefined;
  shift: () => void;
};

/** First in, first out without moving what is left; what comes back goes to the head. */
function createQueue(): Queue {
  const returned: ActiveRun[] = [];
  let items: ActiveRun[] = [];
  let head = 0;
  return {
    push: (run) => void items.push(run),
    unshift: (run) => void returned.push(run),
    peek: () => returned.at(-1) ?? items[head],
    shift: () => {
      if (returned.pop() !== undefined) return;
      head += 1;
      if (head * 2 > items.length) {
        items = items.slice(head);
        head = 0;
      }
    },
  };
}

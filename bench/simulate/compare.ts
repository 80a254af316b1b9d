import type { RealFigures } from "./measure-real.ts";
import { DEFAULT_INSTALLATION } from "./settings.ts";
import { simulate } from "./simulate.ts";

const ONE_MACHINE = { ...DEFAULT_INSTALLATION, dispatchers: 1, workers: 1, oneMachine: true };
/** The receiver of the benchmark responds immediately. */
const FAST = { medianMs: 1, sigma: 0.3 };
const RUN = { installation: ONE_MACHINE, leadMs: 2_000, measureMs: 10_000, seed: 11 };

export interface Comparison {
  what: string;
  /** One for each run. */
  real: number[];
  simulated: number;
  unit: "/s" | "" | "ms";
}

type Overload = NonNullable<RealFigures["overload"]>;

/** What was measured on real servers in several runs, and the same in the simulation. */
export function compare(runs: readonly RealFigures[]): Comparison[] {
  const sizes = runs[0]?.sizes ?? [];
  const throughput = sizes.map(({ workspaces, endpoints, backlog }, index): Comparison => {
    const { perSecond: simulated } = simulate({
      ...RUN,
      demand: {
        backlogged: { workspaces, endpoints: endpoints / workspaces, waiting: Math.ceil(backlog / endpoints) },
        feed: "live",
        quiet: { workspaces: 0, betweenEventsMs: 1_000 },
        receiver: FAST,
        hanging: 0,
      },
    });
    const what = `deliveries to ${endpoints} endpoints of ${workspaces} workspaces`;
    return { what, real: runs.flatMap((run) => run.sizes[index]?.perSecond ?? []), simulated, unit: "/s" };
  });
  return [...throughput, ...compareOverload(runs)];
}

function compareOverload(runs: readonly RealFigures[]): Comparison[] {
  const measured = runs.flatMap(({ overload }) => overload ?? []);
  const [first] = measured;
  if (!first) return [];
  const { workspaces, endpoints, respondAfterMs, quietWorkspaces, quietPerSecond } = first;
  const simulated = simulate({
    ...RUN,
    demand: {
      backlogged: { workspaces, endpoints: endpoints / workspaces, waiting: 5 },
      feed: "old",
      quiet: { workspaces: quietWorkspaces, betweenEventsMs: (1_000 * quietWorkspaces) / quietPerSecond },
      receiver: { medianMs: respondAfterMs, sigma: 0 },
      hanging: 0,
    },
  });
  const row = (what: string, unit: Comparison["unit"], ofModel: number, read: (one: Overload) => number) => ({
    what,
    unit,
    simulated: ofModel,
    real: measured.map(read),
  });
  const backlog = `${workspaces} workspaces with backlogs, receivers of ${respondAfterMs} ms`;
  return [
    row(`${backlog}: deliveries`, "/s", simulated.perSecond, ({ perSecond }) => perSecond),
    row("Jain's index of these workspaces", "", simulated.fairness, ({ fairness }) => fairness),
    row("events of quiet workspaces meanwhile, p50", "ms", simulated.quiet.p50Ms, ({ quiet }) => quiet.p50Ms),
    row("the same, the slowest", "ms", simulated.quiet.maxMs, ({ quiet }) => quiet.maxMs),
  ];
}

import { DEFAULT_INSTALLATION, type Demand, type Installation } from "./settings.ts";
import { type SimulatedFigures, simulate } from "./simulate.ts";

const SEED = 11;
export const ENDPOINTS = 5;
export const RECEIVER: Demand["receiver"] = { medianMs: 50, sigma: 0.5 };
const LEAD_MS = 5_000;
export const MEASURE_MS = 60_000;
const WORKSPACES = [1, 10, 100, 1_000, 10_000] as const;
const WORKERS = [1, 5, 50] as const;
const DISPATCHERS = [1, 2, 4, 8] as const;
const TURNS_MS = [20_000, 2_000, 200] as const;
export const QUIET: Demand["quiet"] = { workspaces: 5, betweenEventsMs: 1_000 };

export interface Scenario {
  workspaces: number;
  installation: Installation;
  /** The share of the endpoints that never respond. */
  hanging: number;
  figures: SimulatedFigures;
}

export interface Figures {
  /** Every workspace has a backlog. */
  sizes: Scenario[];
  /** The largest number of workspaces, with more dispatchers. */
  dispatchers: Scenario[];
  /** Some of the endpoints never respond. */
  hanging: Scenario[];
  /** More than the dispatchers can send, with shorter turns of the workspaces than the product's. */
  turns: Scenario[];
}

export function simulateAll(log: (line: string) => void): Figures {
  const scenario = (workspaces: number, changed: Partial<Installation>, hanging = 0): Scenario => {
    const installation = { ...DEFAULT_INSTALLATION, ...changed };
    const figures = simulate({
      demand: {
        backlogged: { workspaces, endpoints: ENDPOINTS, waiting: 5 },
        feed: "old",
        quiet: QUIET,
        receiver: RECEIVER,
        hanging,
      },
      installation,
      leadMs: LEAD_MS,
      measureMs: MEASURE_MS,
      seed: SEED,
    });
    const { workers, dispatchers } = installation;
    log(`${workspaces} workspaces, ${workers} workers, ${dispatchers} dispatchers: ${figures.perSecond.toFixed(0)}/s`);
    return { workspaces, installation, hanging, figures };
  };
  return {
    sizes: WORKSPACES.flatMap((workspaces) => WORKERS.map((workers) => scenario(workspaces, { workers }))),
    dispatchers: DISPATCHERS.map((dispatchers) => scenario(10_000, { workers: 50, dispatchers })),
    hanging: [0, 0.2, 0.6].map((hanging) => scenario(100, { workers: 5 }, hanging)),
    turns: TURNS_MS.map((turnMs) => scenario(1_000, { workers: 5, turnMs })),
  };
}

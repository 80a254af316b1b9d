/** Where the workspaces of a run are, what they have waiting, and how their receivers respond. */
export interface Demand {
  /** Workspaces that always have this many deliveries waiting for each endpoint. */
  backlogged: { workspaces: number; endpoints: number; waiting: number };
  /**
   * `old`: the backlog was stored long ago and is never used up. `live`: a new event is stored for each one that was
   * delivered, as the benchmark does it.
   */
  feed: "old" | "live";
  /** Workspaces with one endpoint each, and the mean time between the events of each. */
  quiet: { workspaces: number; betweenEventsMs: number };
  /** Median response time of the receivers, and how much it varies (sigma of a log-normal distribution). */
  receiver: { medianMs: number; sigma: number };
  /** The share of the endpoints with a backlog whose receivers never respond. */
  hanging: number;
}

export interface Installation {
  dispatchers: number;
  workers: number;
  workerConcurrency: number;
  caps: { perGroup: number; maxBorrowed: number; perMember: number; suspectPerGroup: number };
  /** A turn of a workspace; undefined: as in the product. */
  turnMs?: number;
  /**
   * As the benchmark runs it on two processors: all roles in one process, which has one thread, and the servers, the publisher
   * and the receiver on the other processor. Otherwise each process has a processor of its own, and the servers these:
   */
  oneMachine: boolean;
  databaseProcessors: number;
  brokerProcessors: number;
}

/** Processor time, in microseconds, and waits, in milliseconds. */
export interface Costs {
  /** Of a transaction (a claim, a batch of results, of events), and of a message through the broker. */
  database: { perTransaction: number; perFanOut: number; perClaimed: number; perResult: number };
  service: { perTransaction: number; perFanOut: number; perClaimed: number; perResult: number; perAttempt: number };
  broker: { perMessage: number; perItem: number };
  /** What the benchmark itself needs for an event on the same machine: publisher and receiver. */
  measuring: { perItem: number };
  databaseWaitMs: number;
  brokerWaitMs: number;
}

/** What the product uses unless its settings say otherwise. */
export const DEFAULT_INSTALLATION: Installation = {
  dispatchers: 2,
  workers: 1,
  workerConcurrency: 256,
  oneMachine: false,
  caps: { perGroup: 5, maxBorrowed: 5, perMember: 2, suspectPerGroup: 2 },
  databaseProcessors: 8,
  brokerProcessors: 2,
};

/**
 * From `bench/results.json`: a line through the processor time of each program per delivery at 2.88, 0.55 and 0.08
 * transactions per delivery. A program's time for an item is divided over what happens to it by estimate.
 */
export const COSTS: Costs = {
  database: { perTransaction: 470, perFanOut: 90, perClaimed: 50, perResult: 50 },
  service: { perTransaction: 440, perFanOut: 100, perClaimed: 130, perResult: 60, perAttempt: 260 },
  broker: { perMessage: 70, perItem: 10 },
  measuring: { perItem: 230 },
  databaseWaitMs: 0.8,
  brokerWaitMs: 0.4,
};

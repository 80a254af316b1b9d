/** Bounds for each workspace; see `WorkspaceShares`. */
export interface ShareLimits {
  /** What a workspace may use over time. */
  bytesPerSecond: number;
  /** What it may use at once after a pause. */
  burstBytes: number;
  /** The bytes of each piece of work that are not counted, so that a few small ones cost nothing. Default 0. */
  freeBytes?: number;
  /**
   * What a piece of work is expected to use while nothing is known about those of its workspace, so that many large ones do
   * not all begin at once. Default 0.
   */
  unknownBytes?: number;
  /**
   * Counted for each piece of work on top of its bytes, while other workspaces have work too (see `Neighbours`). So many small
   * pieces of one workspace cannot crowd out others, and one that is alone has the whole process. Default 0.
   */
  bytesBesideOthers?: number;
  /** Pieces of work under way at the same time. Default: any number. */
  maxRunning?: number;
  /** Pieces of work that may wait for their turn; further ones are refused immediately. */
  maxWaiting: number;
  /** Longest wait for a turn, after which the work is refused. */
  maxWaitMs: number;
}

/** For work of which only the number counts, whose bytes are all 0. */
export const BY_NUMBER = { bytesPerSecond: 1, burstBytes: 1 } as const;

/** The workspace has used up its share and has too much waiting already. */
export class ShareExceeded extends Error {
  /** When another attempt makes sense. */
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super("the workspace has used up its share of this process: try again later");
    this.name = "ShareExceeded";
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A piece of work that has its turn. Dispose it when the work has ended. */
export interface Turn extends Disposable {
  /** Counts further bytes, which the workspace's next work waits for. */
  charge(bytes: number): void;
}

/** A clock that tests can replace. */
export interface Clock {
  nowMs(): number;
  /** Calls back after this time; the function that it returns cancels that. */
  after(ms: number, callback: () => void): () => void;
}

export const REAL_CLOCK: Clock = {
  nowMs: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

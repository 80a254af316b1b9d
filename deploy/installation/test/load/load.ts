import { pause } from "@toolgate/service-host/every";
import { eventually } from "@toolgate/testbed/eventually";

/** Clients of one kind, in a closed loop. */
export interface Clients {
  count: number;
  /** Between the end of an attempt and the client's next one. */
  restMs: number;
  /** Throws what went wrong. Each attempt of a load has a number of its own. */
  attempt(n: number): Promise<unknown>;
}

/** Stops at the latest when it is disposed of. */
export interface Load extends AsyncDisposable {
  /** Attempts that succeeded, by kind. */
  readonly done: Readonly<Record<string, number>>;
  /** What went wrong, in words. */
  readonly failures: readonly string[];
  /** The number of the latest attempt that has begun. */
  readonly lastNumber: number;
  /** Waits until some more attempts of each kind have succeeded, or one has failed. */
  served(): Promise<void>;
  /** Resolves when the attempts under way have ended. */
  stop(): Promise<void>;
}

const SERVED = 2;
/** An answer that is read in many connections takes long on a busy machine. */
const SERVED_DEADLINE_MS = 300_000;

export function startLoad(kinds: Readonly<Record<string, Clients>>): Load {
  const done = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, 0])) as Record<string, number>;
  const failures: string[] = [];
  const stopping = new AbortController();
  let last = 0;
  async function client(kind: string, { restMs, attempt }: Clients): Promise<void> {
    while (!stopping.signal.aborted) {
      last += 1;
      const n = last;
      const startedAt = new Date().toISOString();
      try {
        await attempt(n);
        done[kind] = (done[kind] ?? 0) + 1;
      } catch (error) {
        failures.push(`${startedAt} to ${new Date().toISOString()} ${kind} ${n}: ${inWords(error)}`);
      }
      await pause(restMs, stopping.signal);
    }
  }
  const clients = Object.entries(kinds).flatMap(([kind, own]) =>
    Array.from({ length: own.count }, () => client(kind, own)),
  );
  async function stop(): Promise<void> {
    stopping.abort();
    await Promise.all(clients);
  }
  return {
    done,
    failures,
    get lastNumber() {
      return last;
    },
    async served() {
      const before = { ...done };
      const isServed = (kind: string) => (done[kind] ?? 0) >= (before[kind] ?? 0) + SERVED;
      const isOver = () => failures.length > 0 || Object.keys(kinds).every(isServed);
      await eventually(isOver, { deadlineMs: SERVED_DEADLINE_MS });
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function inWords(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

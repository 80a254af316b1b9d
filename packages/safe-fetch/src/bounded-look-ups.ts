/** Look-ups under way at the same time. */
export const MAX_LOOK_UPS = 256;
/** Look-ups that wait for their turn; further ones fail. */
export const MAX_WAITING_LOOK_UPS = 4_096;
/** How long a name that was not found is not looked up again, in milliseconds. */
export const FAILURE_KEPT_MS = 3_000;
/** Names whose failure is kept; the oldest give way. */
export const MAX_KEPT_FAILURES = 4_096;

type LookUp = (host: string) => Promise<readonly string[]>;

/**
 * A look-up with bounds: one at a time for each name, `MAX_LOOK_UPS` in all, and a name that failed fails again for
 * `FAILURE_KEPT_MS`. What was found is not kept: the check before each send must be a fresh look, since an answer may
 * change between two of them. [SSRF-5]
 */
export function boundedLookUps(lookUp: LookUp, now: () => number): LookUp {
  const underWay = new Map<string, Promise<readonly string[]>>();
  const failures = new Map<string, { until: number; error: unknown }>();
  const waiting: (() => void)[] = [];
  let running = 0;

  async function turn(): Promise<void> {
    if (running < MAX_LOOK_UPS) {
      running += 1;
      return;
    }
    if (waiting.length >= MAX_WAITING_LOOK_UPS) throw new Error("too many names are being looked up");
    await new Promise<void>((resolve) => waiting.push(resolve));
  }

  function release(): void {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }

  async function inTurn(host: string): Promise<readonly string[]> {
    const failure = failures.get(host);
    if (failure && now() < failure.until) throw failure.error;
    failures.delete(host);
    await turn();
    try {
      return await lookUp(host);
    } catch (error) {
      keepFailure(host, error);
      throw error;
    } finally {
      release();
    }
  }

  function keepFailure(host: string, error: unknown): void {
    const oldest = failures.size >= MAX_KEPT_FAILURES ? failures.keys().next().value : undefined;
    if (oldest !== undefined) failures.delete(oldest);
    failures.set(host, { until: now() + FAILURE_KEPT_MS, error });
  }

  return (host) => {
    const joined = underWay.get(host);
    if (joined !== undefined) return joined;
    const answer = inTurn(host).finally(() => underWay.delete(host));
    underWay.set(host, answer);
    return answer;
  };
}

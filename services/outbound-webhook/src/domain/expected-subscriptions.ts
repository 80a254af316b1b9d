/** Of a workspace that nothing is known about yet. */
const UNKNOWN = 4;
const MAX_WORKSPACES = 10_000;

/** How many endpoints the next event of each workspace will probably have, learnt from its last events. At least 1. */
export class ExpectedSubscriptions {
  /** The workspace whose events came last is the last one. */
  readonly #expected = new Map<string, number>();

  of(workspaceId: string): number {
    return this.#expected.get(workspaceId) ?? UNKNOWN;
  }

  /** It rises to what events had at once, and falls by 1 each time: a few cheap events do not hide that most are costly. */
  note(workspaceId: string, events: number, subscriptions: number): void {
    const average = Math.max(1, Math.ceil(subscriptions / events));
    const expected = Math.max(average, (this.#expected.get(workspaceId) ?? 1) - 1);
    this.#expected.delete(workspaceId);
    this.#expected.set(workspaceId, expected);
    for (const [oldest] of this.#expected) {
      if (this.#expected.size <= MAX_WORKSPACES) break;
      this.#expected.delete(oldest);
    }
  }
}

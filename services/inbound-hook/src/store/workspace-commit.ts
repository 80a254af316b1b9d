import { createGroupCommit, type GroupCommitOptions } from "@toolgate/event-bus/group-commit";
import { inUnlockedGroups } from "@toolgate/postgres/fair-queue/unlocked-groups";

/** An item that waits to be stored. Only the first `resolve` or `reject` counts. */
interface Waiting<Item, Result> {
  readonly item: Item;
  readonly isSettled: boolean;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

export interface WorkspaceCommit<Item, Result> extends AsyncDisposable {
  /** Resolves once the item is on disk, whatever happens to the rest of its batch. */
  add(item: Item): Promise<Result>;
}

interface WorkspaceCommitOptions<Item, Result> extends Omit<GroupCommitOptions<Waiting<Item, Result>>, "commit"> {
  /** Stores the items, and settles each as soon as it is on disk. It gets those that it leaves a second time. */
  store: (items: Waiting<Item, Result>[], lockTimeoutMs: number) => Promise<void>;
}

/** Stores items that come together in one transaction; those of a workspace whose queue is locked fail alone. */
export function createWorkspaceCommit<Item extends { workspaceId: string }, Result>({
  store,
  ...options
}: WorkspaceCommitOptions<Item, Result>): WorkspaceCommit<Item, Result> {
  const lockedLately = new Set<string>();
  const batches = createGroupCommit<Waiting<Item, Result>>({
    ...options,
    async commit(batch) {
      const storeOpen = (some: Waiting<Item, Result>[], lockTimeoutMs: number) =>
        store(
          some.filter(({ isSettled }) => !isSettled),
          lockTimeoutMs,
        );
      const locked = await inUnlockedGroups(batch, ({ item }) => item.workspaceId, storeOpen, lockedLately);
      for (const { item, reject } of locked)
        reject(new Error(`the queue of the workspace ${item.workspaceId} is locked`));
    },
  });
  return {
    add(item) {
      const { promise, ...settle } = Promise.withResolvers<Result>();
      const waiting = {
        item,
        isSettled: false,
        resolve(result: Result) {
          waiting.isSettled = true;
          settle.resolve(result);
        },
        reject(error: unknown) {
          waiting.isSettled = true;
          settle.reject(error);
        },
      };
      batches.add(waiting).catch(waiting.reject);
      return promise;
    },
    [Symbol.asyncDispose]: () => batches[Symbol.asyncDispose](),
  };
}

/** The calls of a hook that inbound-hook is working on. */
export interface HookSlots {
  /** A slot for one call, to be disposed when it has its response; undefined when the hook has none left. */
  take(hook: string): Disposable | undefined;
}

const MAX_PER_HOOK = 256;

/**
 * Calls take milliseconds, so a hook has this many only when it is flooded or when its calls wait for something, such as
 * their workspace's share. Then more would use up the slots that all hooks share, and add to the wait of others.
 */
export function createHookSlots(maxPerHook = MAX_PER_HOOK): HookSlots {
  const taken = new Map<string, number>();
  return {
    take(hook) {
      const before = taken.get(hook) ?? 0;
      if (before >= maxPerHook) return undefined;
      taken.set(hook, before + 1);
      return {
        [Symbol.dispose]() {
          const left = (taken.get(hook) ?? 0) - 1;
          if (left > 0) taken.set(hook, left);
          else taken.delete(hook);
        },
      };
    },
  };
}

/** Work that no response waits for. Disposing waits until all of it has ended. */
interface Background extends AsyncDisposable {
  add(work: Promise<unknown>): void;
}

export function createBackground(onError: (error: unknown) => void): Background {
  const running = new Set<Promise<unknown>>();
  return {
    add(work) {
      const settled = work.catch(onError).finally(() => running.delete(settled));
      running.add(settled);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(running);
    },
  };
}

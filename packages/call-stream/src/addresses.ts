import type { ErrorListener } from "./failure.ts";

/** Finds the base URLs of the servers, one per process, such as the pods behind a headless Service. */
export type AddressResolver = () => Promise<readonly string[]> | readonly string[];

/** Looks addresses up every `everyMs`, and immediately on `refresh` unless a lookup is running. */
export function watchAddresses(
  resolve: AddressResolver,
  everyMs: number,
  onAddresses: (addresses: ReadonlySet<string>) => void,
  onError: ErrorListener,
): { refresh(): Promise<void>; close(): void } {
  let timer: NodeJS.Timeout | undefined;
  let running = false;
  let closed = false;
  return {
    async refresh() {
      if (running || closed) return;
      running = true;
      clearTimeout(timer);
      try {
        const addresses = await resolve();
        if (!closed) onAddresses(new Set(addresses));
      } catch (error) {
        onError(error);
      } finally {
        running = false;
        if (!closed) timer = setTimeout(() => void this.refresh(), everyMs);
      }
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}

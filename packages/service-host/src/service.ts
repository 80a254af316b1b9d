import type { ConnectRouter } from "@connectrpc/connect";

/**
 * A running service, as its composition root returns it. The split topology puts `routes` behind a server of its own,
 * the single topology calls them in the process.
 */
export interface Service extends AsyncDisposable {
  /** Registers the service's RPCs. */
  routes(router: ConnectRouter): void;
  /** Resolves when the service can do its work; rejects with the reason when it can't. */
  ready(): Promise<void>;
  /**
   * Stops taking new work; what is under way goes on. Resolves when nothing is under way that lasts longer than a unary
   * call: for those the RPC server waits, and disposing afterwards for what is still left.
   */
  drain(): Promise<void>;
}

import { type Epochs, raiseWithRetries } from "@toolgate/epoch/epoch";
import { unavailable } from "./errors.ts";

/**
 * Call it after the commit of a change: once it resolves, every replica loads the scope again. If that fails, the caller is
 * told, and the scope is raised until Redis has it: what the caller repeats may be refused, because it is done.
 */
export async function announceChange(epochs: Epochs, scope: string): Promise<void> {
  await epochs.raise(scope).catch(() => {
    void raiseWithRetries(epochs, scope);
    throw unavailable("saved, not yet propagated; retry");
  });
}

/**
 * Call it before a secret is rotated: without Redis, replicas that have cached the old one would go on with it until Redis
 * is back.
 */
export async function assertAnnounceable(epochs: Epochs, scope: string): Promise<void> {
  await epochs.raise(scope).catch(() => {
    throw unavailable("not rotated: the change could not be announced to every replica");
  });
}

import type { Epochs } from "@toolgate/epoch/epoch";
import { unavailable } from "@toolgate/service-host/errors";

/**
 * Makes a committed change hold for the next call on every replica. Where that fails the caller learns that the change
 * is made, and repeats it: each RPC announces again even when there is nothing left to change.
 */
export async function announce({ epochs }: { epochs: Epochs }, workspaceId: string): Promise<void> {
  await epochs.raise(`workspace:${workspaceId}`).catch(() => {
    throw unavailable("done, but not confirmed everywhere yet: repeat the call");
  });
}

import type { Epochs } from "@toolgate/epoch/epoch";
import { unavailable } from "@toolgate/service-host/errors";

/** Makes a committed change of a key hold for the next call on every replica. */
export async function announce({ epochs }: { epochs: Epochs }, keyId: string): Promise<void> {
  await epochs.raise(`key:${keyId}`).catch(() => {
    throw unavailable("done, but not confirmed everywhere yet: repeat the call");
  });
}

import { canonicalIp, networkOf } from "@toolgate/ip-address/ip-address";
import { ShareExceeded } from "@toolgate/workspace-share/turn";
import type { WorkspaceShares } from "@toolgate/workspace-share/workspace-shares";

/**
 * Waits before a request is refused, so that clients which repeat refused requests without a pause leave the gateway to the
 * others. `whose`: the workspace of a valid key, or the network of a stranger (`networkOfClient`).
 */
export async function waitToRefuse(refusals: WorkspaceShares, whose: string): Promise<void> {
  try {
    using _turn = await refusals.begin(whose);
  } catch (error) {
    if (!(error instanceof ShareExceeded)) throw error;
  }
}

/** Node forgets the address of a client that has left: then it is undefined, whatever its type says. */
export function networkOfClient(clientIp: string | undefined): string {
  return clientIp === undefined ? "" : networkOf(canonicalIp(clientIp));
}

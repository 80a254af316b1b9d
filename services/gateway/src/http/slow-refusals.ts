import { canonicalIp, networkOf } from "@toolgate/ip-address/ip-address";
import { ShareExceeded } from "@toolgate/workspace-share/turn";
import type { WorkspaceShares } from "@toolgate/workspace-share/workspace-shares";
import type { FastifyReply } from "fastify";
import { whenClosed } from "./workspace-turns.ts";

/**
 * Waits before a request is refused, so that clients which repeat refused requests without a pause leave the gateway to the
 * others. `whose`: the workspace of a valid key, or the network of a stranger (`networkOfClient`). Nobody waits behind a client
 * that has left.
 */
export async function waitToRefuse(refusals: WorkspaceShares, whose: string, reply: FastifyReply): Promise<void> {
  try {
    using _turn = await refusals.begin(whose, 0, () => whenClosed(reply.raw));
  } catch (error) {
    if (!(error instanceof ShareExceeded)) throw error;
  }
}

/** Node forgets the address of a client that has left: then it is undefined, whatever its type says. */
export function networkOfClient(clientIp: string | undefined): string {
  return clientIp === undefined ? "" : networkOf(canonicalIp(clientIp));
}

import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { principalOf } from "@toolgate/service-host/principal";
import { refusals } from "@toolgate/telemetry/instruments";
import { ShareExceeded, type Turn } from "@toolgate/workspace-share/turn";
import type { Context } from "../../context.ts";
import { PULL_WEIGHT } from "../../domain/pull-shares.ts";

/**
 * Answers a verified request of a receiver in its turn among those of its workspace. Users' requests have taken theirs at
 * the gateway, which does not know the workspace of a receiver.
 */
export async function inTurn<Response>(
  context: Pick<Context, "pullShares">,
  call: HandlerContext,
  answer: () => Promise<{ response: Response; bytes: number }>,
): Promise<Response> {
  using turn = await turnOf(context, call);
  const { response, bytes } = await answer();
  turn.charge(bytes * PULL_WEIGHT);
  return response;
}

async function turnOf({ pullShares }: Pick<Context, "pullShares">, call: HandlerContext): Promise<Turn> {
  try {
    return await pullShares.begin(principalOf(call).workspaceId, 0, () => call.signal);
  } catch (error) {
    if (!(error instanceof ShareExceeded)) throw error;
    refusals.add(1, { limiter: "workspace share" });
    throw new ConnectError("too many requests of this workspace: try again", Code.ResourceExhausted, {
      "retry-after": String(error.retryAfterSeconds),
    });
  }
}

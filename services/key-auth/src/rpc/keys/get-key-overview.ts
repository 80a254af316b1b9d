import { Code, ConnectError } from "@connectrpc/connect";
import type { KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { countsByHour, firstOfHours, timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { countCallsByHour, findFirstSteps, listExpiring, toolsOfActiveKeys } from "../../store/overview.ts";

const SOON_MS = 14 * 86_400_000;
const MAX_TOOLS = 20;

export const getKeyOverview: Handler<Context, typeof KeyService.method.getKeyOverview> = async (
  context,
  _request,
  call,
) => {
  const { pool } = context;
  const { workspaceId } = principalOf(call);
  const now = context.now();
  const firstHour = firstOfHours(now.getTime());
  const [calls, expiring, unavailable, steps] = await Promise.all([
    countCallsByHour(pool, workspaceId, firstHour),
    listExpiring(pool, { workspaceId, now, before: new Date(now.getTime() + SOON_MS) }),
    unavailableTools(context, workspaceId, now),
    findFirstSteps(pool, workspaceId),
  ]);
  return {
    firstHour: timestampOf(firstHour),
    calls: countsByHour(firstHour, calls),
    expiring: expiring.map(({ expiresAt, ...key }) => ({ ...key, expiresAt: timestampOf(expiresAt) })),
    unavailableTools: unavailable ?? [],
    toolsUnchecked: unavailable === undefined,
    hasKey: steps.hasKey,
    hasCall: steps.hasCall,
    workspaceCreatedAt: timestampOf(steps.createdAt),
  };
};

/** [MGMT-18] Undefined when tool-runner cannot be reached. */
async function unavailableTools({ pool, tools }: Context, workspaceId: string, now: Date) {
  const listed = await toolsOfActiveKeys(pool, workspaceId, now);
  const names = listed.map(({ name }) => name);
  try {
    const released = await tools.released(workspaceId, names);
    return listed.filter(({ name }) => !released.has(name)).slice(0, MAX_TOOLS);
  } catch (error) {
    const { code } = ConnectError.from(error);
    if (code === Code.Unavailable || code === Code.DeadlineExceeded) return undefined;
    throw error;
  }
}

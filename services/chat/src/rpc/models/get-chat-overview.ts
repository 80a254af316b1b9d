import type { ModelService } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { firstOfHours, timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { readBudget } from "../../store/budget.ts";
import { countAnswersByHour, listFailingAssistants } from "../../store/overview.ts";

export const getChatOverview: Handler<Context, typeof ModelService.method.getChatOverview> = async (
  { pool, now },
  _request,
  call,
) => {
  const { workspaceId } = principalOf(call);
  const at = now();
  const firstHour = firstOfHours(at.getTime());
  const failing = await listFailingAssistants(pool, workspaceId, firstHour);
  const { perDay, used } = await readBudget(pool, workspaceId, at);
  return {
    firstHour: timestampOf(firstHour),
    answers: await countAnswersByHour(pool, workspaceId, firstHour),
    failing: failing.map(({ lastAt, ...row }) => ({ ...row, lastAt: timestampOf(lastAt) })),
    tokensPerDay: BigInt(perDay),
    tokensToday: BigInt(used),
  };
};

import { Code, ConnectError } from "@connectrpc/connect";
import type { ModelService } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import type { Handlers } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { firstOfHours, timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { microsOf, sumCosts } from "../../domain/cost.ts";
import { usageDays } from "../../domain/usage-days.ts";
import { countAnswersByHour, listFailingAssistants } from "../../store/overview.ts";
import { readBudget, readUsage } from "../../store/usage.ts";

export const usageHandlers = {
  async getUsage({ pool, now }, request, call) {
    const { workspaceId } = principalOf(call);
    const asked = usageDays(request, now());
    if (!asked.ok) throw new ConnectError(asked.violation, Code.InvalidArgument);
    const rows = await readUsage(pool, workspaceId, asked.days);
    return {
      usage: rows.map(({ turns, inputTokens, outputTokens, costs, ...row }) => ({
        ...row,
        turns: BigInt(turns),
        inputTokens: BigInt(inputTokens),
        outputTokens: BigInt(outputTokens),
        costs: costMessages(costs),
      })),
      costs: costMessages(sumCosts(rows.flatMap(({ costs }) => costs))),
    };
  },

  async getChatOverview({ pool, now }, _request, call) {
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
  },
} satisfies Handlers<Context, typeof ModelService>;

function costMessages(costs: readonly { currency: string; cost: bigint }[]) {
  return costs.map(({ currency, cost }) => ({ currency, micros: microsOf(cost) }));
}

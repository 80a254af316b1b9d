import { Code, ConnectError } from "@connectrpc/connect";
import type { ModelService } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { microsOf, sumCosts } from "../../domain/cost.ts";
import { usageDays } from "../../domain/usage-days.ts";
import { readUsage } from "../../store/usage.ts";

export const getUsage: Handler<Context, typeof ModelService.method.getUsage> = async (context, request, call) => {
  const { workspaceId } = principalOf(call);
  const asked = usageDays(request, context.now());
  if (!asked.ok) throw new ConnectError(asked.violation, Code.InvalidArgument);
  const rows = await readUsage(context.pool, workspaceId, asked.days);
  const exact = rows.map(({ costs }) => costs.map(({ currency, cost }) => ({ currency, cost: BigInt(cost) })));
  return {
    usage: rows.map(({ turns, inputTokens, outputTokens, ...row }, index) => ({
      ...row,
      turns: BigInt(turns),
      inputTokens: BigInt(inputTokens),
      outputTokens: BigInt(outputTokens),
      costs: costMessages(exact[index] ?? []),
    })),
    costs: costMessages(sumCosts(exact.flat())),
  };
};

function costMessages(costs: readonly { currency: string; cost: bigint }[]) {
  return costs.map(({ currency, cost }) => ({ currency, micros: microsOf(cost) }));
}

import type { AssistantService } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import type { Queryable } from "@toolgate/postgres/pool";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { readBudget } from "../../store/budget.ts";
import { type ChatSettingsRow, readSettings } from "../../store/settings.ts";

export const getChatSettings: Handler<Context, typeof AssistantService.method.getChatSettings> = async (
  { pool, now },
  _request,
  call,
) => {
  const { workspaceId } = principalOf(call);
  return { settings: await settingsMessage(pool, workspaceId, await readSettings(pool, workspaceId), now()) };
};

export async function settingsMessage(
  db: Queryable,
  workspaceId: string,
  { tokensPerDay, allowedOrigins }: ChatSettingsRow,
  now: Date,
) {
  const { used } = await readBudget(db, workspaceId, now);
  return { tokensPerDay: BigInt(tokensPerDay), allowedOrigins, tokensToday: BigInt(used) };
}

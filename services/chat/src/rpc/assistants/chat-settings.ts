import { isDeepStrictEqual } from "node:util";
import type { AssistantService } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import type { Queryable } from "@toolgate/postgres/pool";
import type { Handlers } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { originsViolation } from "../../domain/origin.ts";
import { type ChatSettingsRow, readSettings, saveSettings } from "../../store/settings.ts";
import { readBudget } from "../../store/usage.ts";
import { changeWorkspace, refuseIf } from "../change.ts";

const MAX_TOKENS_PER_DAY = 1_000_000_000_000n;

export const chatSettingsHandlers = {
  async getChatSettings({ pool, now }, _request, call) {
    const { workspaceId } = principalOf(call);
    return { settings: await settingsMessage(pool, workspaceId, await readSettings(pool, workspaceId), now()) };
  },

  async updateChatSettings(context, { tokensPerDay, allowedOrigins }, call) {
    const tooMany = (tokensPerDay ?? 0n) > MAX_TOKENS_PER_DAY;
    refuseIf(
      tooMany ? `tokens_per_day: at most ${MAX_TOKENS_PER_DAY}` : undefined,
      allowedOrigins && originsViolation(allowedOrigins.origins),
    );
    return changeWorkspace(context, call, async ({ client, principal: { workspaceId }, settings, now, audit }) => {
      const changed = {
        ...settings,
        ...(tokensPerDay !== undefined && { tokensPerDay: Number(tokensPerDay) }),
        ...(allowedOrigins && { allowedOrigins: allowedOrigins.origins }),
      };
      const fields = [
        ...(changed.tokensPerDay === settings.tokensPerDay ? [] : ["tokens_per_day"]),
        ...(isDeepStrictEqual(changed.allowedOrigins, settings.allowedOrigins) ? [] : ["allowed_origins"]),
      ];
      if (fields.length > 0) {
        await saveSettings(client, workspaceId, changed);
        await audit("chat_settings.edit", "chat settings", fields);
      }
      return { settings: await settingsMessage(client, workspaceId, changed, now) };
    });
  },
} satisfies Handlers<Context, typeof AssistantService>;

async function settingsMessage(
  db: Queryable,
  workspaceId: string,
  { tokensPerDay, allowedOrigins }: ChatSettingsRow,
  now: Date,
) {
  const { used } = await readBudget(db, workspaceId, now);
  return { tokensPerDay: BigInt(tokensPerDay), allowedOrigins, tokensToday: BigInt(used) };
}

import { Code, ConnectError } from "@connectrpc/connect";
import type { HookService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import { newRandomId } from "@toolgate/postgres/random-id";
import { trimPasted } from "@toolgate/rules/pasted";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { generateSecret } from "@toolgate/webhook-signing/secret";
import type { ReceiverContext } from "../../context.ts";
import {
  DEFAULT_LIMIT,
  DEFAULT_TOLERANCE_S,
  hashSegment,
  hookUrl,
  MAX_HOOKS_CREATED_PER_DAY,
  MAX_HOOKS_PER_WORKSPACE,
  newSegment,
  presetViolation,
  providerSecretViolation,
  sealingContext,
  settingsViolation,
  shortenSegment,
} from "../../domain/hook.ts";
import { countHooks, insertHook, lockHooksOf } from "../../store/hooks.ts";
import { auditHook } from "../record-change.ts";
import { refuseIf } from "../request-fields.ts";
import { checkedArguments, targetOf } from "./check-target.ts";
import { argumentsOf, formatOf, presetOf, toHook } from "./hook-message.ts";

const DAY_MS = 86_400_000;

export const createHook: Handler<ReceiverContext, typeof HookService.method.createHook> = async (
  context,
  request,
  call,
) => {
  const principal = principalOf(call);
  const { workspaceId, workspace } = principal;
  const { limit = DEFAULT_LIMIT, toleranceSeconds } = request;
  const providerSecret = trimPasted(request.providerSecret);
  const name = request.name.trim();
  const format = formatOf(request.format);
  const preset = presetOf(request.preset);
  refuseIf(settingsViolation(format, { name, limit, toleranceSeconds }) ?? presetViolation(format, preset));
  refuseIf(providerSecretViolation(format, providerSecret));
  const target = targetOf(request.target);
  const args = await checkedArguments(context.targets, workspaceId, target, argumentsOf(request.arguments));

  const id = newRandomId();
  const segment = newSegment();
  // [AUTH-20] [AUTH-21] [AUTH-22] There is always a secret.
  const secret = providerSecret || generateSecret();
  const row = await inTransaction(context.pool, async (client) => {
    await lockHooksOf(client, workspaceId);
    const at = context.now();
    const { hooks, created } = await countHooks(client, workspaceId, new Date(at.getTime() - DAY_MS));
    if (hooks >= MAX_HOOKS_PER_WORKSPACE) throw exhausted(`has at most ${MAX_HOOKS_PER_WORKSPACE} hooks`);
    if (created >= MAX_HOOKS_CREATED_PER_DAY)
      throw exhausted(`creates at most ${MAX_HOOKS_CREATED_PER_DAY} hooks in 24 hours`);
    const inserted = await insertHook(client, {
      id,
      workspaceId,
      workspace,
      name,
      urlHash: hashSegment(segment),
      shownUrl: shortenSegment(segment),
      format,
      preset: preset ?? null,
      target,
      arguments: args,
      limit,
      toleranceSeconds: toleranceSeconds ?? DEFAULT_TOLERANCE_S,
      secret: context.secretBox.seal(secret, sealingContext(id)),
      createdAt: at,
      savedBy: principal.email,
    });
    await auditHook(client, inserted, { principal, at, action: "hook.create" });
    return inserted;
  });
  return {
    hook: toHook(row, context),
    url: hookUrl(context.publicUrl, segment),
    secret: providerSecret === "" ? secret : "",
  };
};

function exhausted(limit: string): ConnectError {
  return new ConnectError(`a workspace ${limit}`, Code.ResourceExhausted);
}

import { raiseWithRetries } from "@toolgate/epoch/epoch";
import type { HookService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import { trimPasted } from "@toolgate/rules/pasted";
import { assertAnnounceable } from "@toolgate/service-host/announce";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { generateSecret } from "@toolgate/webhook-signing/secret";
import type { ReceiverContext } from "../../context.ts";
import { epochScope, providerSecretViolation, sealingContext } from "../../domain/hook.ts";
import { findHook, lockHook, replaceSecret } from "../../store/hooks.ts";
import { auditHook } from "../record-change.ts";
import { hookKey, noSuchHook, refuseIf } from "../request-fields.ts";

export const rotateHookSecret: Handler<ReceiverContext, typeof HookService.method.rotateHookSecret> = async (
  context,
  { hookId, providerSecret: pasted },
  call,
) => {
  const providerSecret = trimPasted(pasted);
  const principal = principalOf(call);
  const key = hookKey(principal, hookId);
  const known = await findHook(context.pool, key);
  if (!known) throw noSuchHook();
  refuseIf(providerSecretViolation(known.format, providerSecret));
  await assertAnnounceable(context.epochs, epochScope(known.id));
  const secret = providerSecret || generateSecret();
  await inTransaction(context.pool, async (client) => {
    const hook = await lockHook(client, key);
    if (!hook || hook.deletedAt) throw noSuchHook();
    await replaceSecret(client, hook.id, context.secretBox.seal(secret, sealingContext(hook.id)));
    await auditHook(client, hook, { principal, at: context.now(), action: "hook.rotate" });
  });
  // From here on nothing may fail: the new secret is only in this response.
  await raiseWithRetries(context.epochs, epochScope(known.id));
  return { secret: providerSecret === "" ? secret : "" };
};

import type { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { fullCaps } from "@toolgate/postgres/fair-queue/caps";
import { inTransaction } from "@toolgate/postgres/pool";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { readSlotsPerEndpoint, writeSlotsPerEndpoint } from "../../store/delivery-settings.ts";
import { makeAndLockWorkspace } from "../../store/endpoint.ts";
import { auditDeliverySettings } from "../audit.ts";
import { invalidArgument } from "../request-fields.ts";

export const setDeliverySettings: Handler<Context, typeof EndpointService.method.setDeliverySettings> = async (
  { pool, caps, announceWork, now },
  { settings },
  call,
) => {
  const principal = principalOf(call);
  const { workspaceId } = principal;
  if (!settings) throw invalidArgument("settings: is missing");
  const chosen = settings.slotsPerEndpoint ?? null;
  const { maxPerMember } = fullCaps(caps);
  if (chosen !== null && (chosen < 1 || chosen > maxPerMember))
    throw invalidArgument(`settings.slots_per_endpoint: must be from 1 to ${maxPerMember}`);
  await inTransaction(pool, async (client) => {
    await makeAndLockWorkspace(client, workspaceId);
    if ((await readSlotsPerEndpoint(client, workspaceId)) === chosen) return;
    await writeSlotsPerEndpoint(client, workspaceId, chosen);
    await auditDeliverySettings(client, { principal, at: now(), fields: ["slots_per_endpoint"] });
  });
  // Deliveries may have slots now.
  announceWork();
  return {};
};

import type { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { fullCaps } from "@toolgate/postgres/fair-queue/caps";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { readSlotsPerEndpoint } from "../../store/delivery-settings.ts";

export const getDeliverySettings: Handler<Context, typeof EndpointService.method.getDeliverySettings> = async (
  { pool, caps },
  _request,
  call,
) => {
  const slotsPerEndpoint = await readSlotsPerEndpoint(pool, principalOf(call).workspaceId);
  const { perGroup, perMember, maxPerMember } = fullCaps(caps);
  return {
    settings: slotsPerEndpoint === null ? {} : { slotsPerEndpoint },
    maxSlotsPerEndpoint: maxPerMember,
    defaultSlotsPerEndpoint: perMember,
    slotsPerWorkspace: perGroup,
  };
};

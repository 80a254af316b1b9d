import type { ConnectRouter } from "@connectrpc/connect";
import { DeliveryService } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { EventService } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { ReplayService } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import { UndeliveredService } from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import { bind } from "@toolgate/service-host/handler";
import type { Context } from "../context.ts";
import { debugSignature } from "./deliveries/debug-signature.ts";
import { deliveryHandlers } from "./deliveries/deliveries.ts";
import { listDeliveries } from "./deliveries/list-deliveries.ts";
import { createEndpoint } from "./endpoints/create-endpoint.ts";
import { endpointHandlers } from "./endpoints/endpoints.ts";
import { getEndpointOverview } from "./endpoints/get-endpoint-overview.ts";
import { updateEndpoint } from "./endpoints/update-endpoint.ts";
import { eventHandlers } from "./events.ts";
import { replayHandlers } from "./replays/replays.ts";
import { undeliveredHandlers } from "./undelivered.ts";

export function registerRoutes(router: ConnectRouter, context: Context): void {
  router.service(
    EndpointService,
    bind(context, { ...endpointHandlers, createEndpoint, updateEndpoint, getEndpointOverview }),
  );
  router.service(EventService, bind(context, eventHandlers));
  router.service(DeliveryService, bind(context, { ...deliveryHandlers, listDeliveries, debugSignature }));
  router.service(ReplayService, bind(context, replayHandlers));
  router.service(UndeliveredService, bind(context, undeliveredHandlers));
}

import type { ConnectRouter } from "@connectrpc/connect";
import { DeliveryService } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { EventService } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { ReplayService } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import { UndeliveredService } from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import { bind } from "@toolgate/service-host/handler";
import type { Context } from "../context.ts";
import { debugSignature } from "./deliveries/debug-signature.ts";
import { getDelivery } from "./deliveries/get-delivery.ts";
import { getDeliveryAsCurl } from "./deliveries/get-delivery-as-curl.ts";
import { getEndpointBacklog } from "./deliveries/get-endpoint-backlog.ts";
import { listDeliveries } from "./deliveries/list-deliveries.ts";
import { resendDelivery } from "./deliveries/resend-delivery.ts";
import { createEndpoint } from "./endpoints/create-endpoint.ts";
import { deleteEndpoint } from "./endpoints/delete-endpoint.ts";
import { getEndpoint } from "./endpoints/get-endpoint.ts";
import { getEndpointOverview } from "./endpoints/get-endpoint-overview.ts";
import { listEndpoints } from "./endpoints/list-endpoints.ts";
import { rotateSecret } from "./endpoints/rotate-secret.ts";
import { sendTestEvent } from "./endpoints/send-test-event.ts";
import { updateEndpoint } from "./endpoints/update-endpoint.ts";
import { listEventTypes } from "./events/list-event-types.ts";
import { reportEvents } from "./events/report-events.ts";
import { cancelReplay } from "./replays/cancel-replay.ts";
import { getReplay } from "./replays/get-replay.ts";
import { listReplays } from "./replays/list-replays.ts";
import { previewReplay } from "./replays/preview-replay.ts";
import { startReplay } from "./replays/start-replay.ts";
import { countUndelivered } from "./undelivered/count-undelivered.ts";
import { listUndelivered } from "./undelivered/list-undelivered.ts";

export function registerRoutes(router: ConnectRouter, context: Context): void {
  router.service(
    EndpointService,
    bind(context, {
      createEndpoint,
      listEndpoints,
      getEndpoint,
      updateEndpoint,
      deleteEndpoint,
      rotateSecret,
      sendTestEvent,
      getEndpointOverview,
    }),
  );
  router.service(EventService, bind(context, { reportEvents, listEventTypes }));
  router.service(
    DeliveryService,
    bind(context, {
      listDeliveries,
      getDelivery,
      resendDelivery,
      getDeliveryAsCurl,
      getEndpointBacklog,
      debugSignature,
    }),
  );
  router.service(ReplayService, bind(context, { previewReplay, startReplay, getReplay, listReplays, cancelReplay }));
  router.service(UndeliveredService, bind(context, { listUndelivered, countUndelivered }));
}

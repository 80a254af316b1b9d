import type { ConnectRouter } from "@connectrpc/connect";
import { DeliveryService } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { EventService } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { ReplayService } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import { SignedPullService } from "@toolgate/gen/toolgate/outbound_webhook/v1/signed_pull_pb";
import { UndeliveredService } from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import type { QueueCaps } from "@toolgate/postgres/fair-queue/caps";
import type { Pool } from "@toolgate/postgres/pool";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import type { Redact } from "../domain/event-types/public-tool-submitted.ts";
import type { CheckUrl } from "../domain/url-rules.ts";
import type { FanOut } from "../store/deliveries/fan-out.ts";
import type { SingleDeliveryStore } from "../store/deliveries/single-delivery.ts";
import type { EndpointKey } from "../store/endpoint.ts";
import type { ReplayStepStore } from "../store/replay/step.ts";
import { acknowledgeSigned } from "./acknowledge-signed.ts";
import { acknowledgeUndelivered } from "./acknowledge-undelivered.ts";
import { cancelReplay } from "./cancel-replay.ts";
import { countUndelivered } from "./count-undelivered.ts";
import { createEndpoint } from "./create-endpoint.ts";
import { debugSignature } from "./debug-signature.ts";
import { deleteEndpoint } from "./delete-endpoint.ts";
import { getDelivery } from "./get-delivery.ts";
import { getDeliveryAsCurl } from "./get-delivery-as-curl.ts";
import { getEndpoint } from "./get-endpoint.ts";
import { getEndpointBacklog } from "./get-endpoint-backlog.ts";
import { getReplay } from "./get-replay.ts";
import { listDeliveries } from "./list-deliveries.ts";
import { listEndpoints } from "./list-endpoints.ts";
import { listEventTypes } from "./list-event-types.ts";
import { listReplays } from "./list-replays.ts";
import { listUndelivered } from "./list-undelivered.ts";
import { previewReplay } from "./preview-replay.ts";
import { pullSigned } from "./pull-signed.ts";
import { pullUndelivered } from "./pull-undelivered.ts";
import { reportEvents } from "./report-events.ts";
import { resendDelivery } from "./resend-delivery.ts";
import { rotateSecret } from "./rotate-secret.ts";
import { sendTestEvent } from "./send-test-event.ts";
import { startReplay } from "./start-replay.ts";
import { updateEndpoint } from "./update-endpoint.ts";

/** What the RPCs stand on. */
export interface RpcDependencies {
  pool: Pool;
  secretBox: SecretBox;
  checkUrl: CheckUrl;
  deliveries: SingleDeliveryStore;
  caps: QueueCaps;
  fanOut: FanOut;
  redact: Redact;
  cancelWaiting: (key: EndpointKey, now: Date) => Promise<void>;
  replaySteps: Pick<ReplayStepStore, "cancel">;
  announceReplay: () => void;
  announceWork: () => void;
  now: () => Date;
}

export function registerRoutes(router: ConnectRouter, deps: RpcDependencies): void {
  router.service(EndpointService, {
    createEndpoint: createEndpoint(deps),
    listEndpoints: listEndpoints(deps),
    getEndpoint: getEndpoint(deps),
    updateEndpoint: updateEndpoint(deps),
    deleteEndpoint: deleteEndpoint(deps),
    rotateSecret: rotateSecret(deps),
    sendTestEvent: sendTestEvent(deps),
  });
  router.service(EventService, {
    reportEvents: reportEvents(deps),
    listEventTypes: listEventTypes(),
  });
  router.service(DeliveryService, {
    listDeliveries: listDeliveries(deps),
    getDelivery: getDelivery(deps),
    resendDelivery: resendDelivery(deps),
    getDeliveryAsCurl: getDeliveryAsCurl(deps),
    getEndpointBacklog: getEndpointBacklog(deps),
    debugSignature: debugSignature(deps),
  });
  router.service(ReplayService, {
    previewReplay: previewReplay(deps),
    startReplay: startReplay(deps),
    getReplay: getReplay(deps),
    listReplays: listReplays(deps),
    cancelReplay: cancelReplay(deps),
  });
  router.service(UndeliveredService, {
    listUndelivered: listUndelivered(deps),
    countUndelivered: countUndelivered(deps),
    pullUndelivered: pullUndelivered(deps),
    acknowledgeUndelivered: acknowledgeUndelivered(deps),
  });
  router.service(SignedPullService, {
    pullSigned: pullSigned(deps, pullUndelivered(deps)),
    acknowledgeSigned: acknowledgeSigned(deps, acknowledgeUndelivered(deps)),
  });
}

import type { QueueCaps } from "@toolgate/postgres/fair-queue/caps";
import type { Pool } from "@toolgate/postgres/pool";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import type { Redact } from "./domain/event-types/public-tool-submitted.ts";
import type { CheckUrl } from "./domain/url-rules.ts";
import type { FanOut } from "./store/deliveries/fan-out.ts";
import type { SingleDeliveryStore } from "./store/deliveries/single-delivery.ts";
import type { EndpointKey } from "./store/endpoint.ts";
import type { ReplayStepStore } from "./store/replay/step.ts";

/** What the RPCs need. */
export interface Context {
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

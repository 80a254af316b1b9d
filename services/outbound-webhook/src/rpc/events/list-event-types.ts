import { displayName, EVENT_TYPES, schemaPath } from "@toolgate/event-schemas/catalogue";
import type { EventService } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";

export const listEventTypes: Handler<Context, typeof EventService.method.listEventTypes> = async () => ({
  eventTypes: EVENT_TYPES.map((kind) => ({
    type: displayName(kind),
    description: kind.sent,
    schemaPath: schemaPath(kind),
    subscribable: kind.subscribable !== false,
    hasSource: kind.hasSource,
  })),
});

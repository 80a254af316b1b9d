import { EVENT_TYPES, schemaPath } from "@toolgate/event-schemas/catalogue";
import type { EventService } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { CUSTOM_KIND, hasSource, isSubscribable } from "../../domain/catalogue.ts";

export const listEventTypes: Handler<Context, typeof EventService.method.listEventTypes> = async () => ({
  eventTypes: EVENT_TYPES.map((kind) => ({
    type: kind.type === CUSTOM_KIND ? "custom.<name>" : kind.type,
    description: kind.sent,
    schemaPath: schemaPath(kind),
    subscribable: kind.type === CUSTOM_KIND || isSubscribable(kind.type),
    hasSource: hasSource(kind.type),
  })),
});

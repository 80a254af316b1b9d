import type { ServiceImpl } from "@connectrpc/connect";
import { EVENT_TYPES, schemaPath } from "@toolgate/event-schemas/catalogue";
import type { EventService } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { CUSTOM_KIND, hasSource, isSubscribable } from "../domain/catalogue.ts";

export function listEventTypes(): ServiceImpl<typeof EventService>["listEventTypes"] {
  return () => ({
    eventTypes: EVENT_TYPES.map((kind) => ({
      type: kind.type === CUSTOM_KIND ? "custom.<name>" : kind.type,
      description: kind.sent,
      schemaPath: schemaPath(kind),
      subscribable: kind.type === CUSTOM_KIND || isSubscribable(kind.type),
      hasSource: hasSource(kind.type),
    })),
  });
}

import { type EventType, object, text } from "../event-type.ts";

/** [EVT-18] [EVT-60] */
export const webhookTest: EventType = {
  type: "webhook.test",
  sent: "A user sent a test event to this endpoint; no subscription is needed.",
  hasSource: true,
  subscribable: false,
  data: object({
    message: text("A sentence for people."),
    endpoint_id: { type: "integer", description: "Id of the endpoint." },
    triggered_by: { type: "string", description: "Email address of the user." },
  }),
  example: { message: "This is a test event.", endpoint_id: 7, triggered_by: "admin@example.com" },
};

import { Link } from "@tanstack/react-router";
import type { EventType } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { EVENTS } from "../../text/en/webhooks/events.ts";
import { Facts, Panel } from "../../ui/page/panel.tsx";
import { EventSchema } from "./event-schema.tsx";
import { EventSource } from "./event-source.tsx";

export function EventPanel({ of, onClose }: { of: EventType; onClose: () => void }) {
  return (
    <Panel title={of.type} onClose={onClose} actions={of.subscribable && <AddEndpoint type={of.type} />}>
      <Facts
        facts={[
          [EVENTS.whenSent, of.description],
          ["Status", <EventSource key="status" {...of} />],
          [EVENTS.subscription, subscriptionText(of)],
          [EVENTS.schema, <SchemaLink key="schema" path={of.schemaPath} />],
        ]}
      />
      {of.subscribable && !of.hasSource && <p>{EVENTS.notSentText}</p>}
      <EventSchema type={of.type} path={of.schemaPath} />
    </Panel>
  );
}

/** Leads to the dialog for a new endpoint, in which the type is chosen. */
function AddEndpoint({ type }: { type: string }) {
  return (
    <Link to="/webhooks" search={{ add: type.startsWith("custom.") ? "custom.*" : type }}>
      {EVENTS.addEndpoint}
    </Link>
  );
}

function SchemaLink({ path }: { path: string }) {
  return (
    <a href={path} target="_blank" rel="noreferrer">
      {path}
    </a>
  );
}

function subscriptionText({ type, subscribable }: EventType): string {
  if (!subscribable) return EVENTS.subscribeNever;
  return type.startsWith("custom.") ? EVENTS.subscribeCustom : EVENTS.subscribe;
}

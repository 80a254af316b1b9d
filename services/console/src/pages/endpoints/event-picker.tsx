import { useQuery } from "@connectrpc/connect-query";
import { EventService } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { useState } from "react";
import { failureOf } from "../../rpc/errors.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import { ENDPOINTS } from "../../text/en/webhooks/endpoints.ts";
import { FieldGroup } from "../../ui/form/field-group.tsx";
import { FailureText } from "../../ui/page/failure.tsx";
import { groupOf } from "../events/event-source.tsx";
import { CustomEvents } from "./custom-events.tsx";
import styles from "./endpoints.module.css";
import { EventChoice } from "./event-choice.tsx";
import { ToolChoice } from "./tool-choice.tsx";

const CUSTOM = "custom.<name>";
const WITH_TOOLS = "tool.completed";

/** The catalogue by group, with the schema and an example of each type. [OUT-4] [OUT-5] */
export function EventPicker({ selected, tools }: { selected: readonly string[]; tools: readonly string[] }) {
  const workspace = useWorkspace();
  const { data, error, refetch } = useQuery(EventService.method.listEventTypes, { workspace });
  const [hasTools, setHasTools] = useState(selected.includes(WITH_TOOLS));
  const types = data?.eventTypes.filter(({ subscribable }) => subscribable) ?? [];
  const groups = Map.groupBy(types, ({ type }) => groupOf(type));
  return (
    <FieldGroup name="events" label={ENDPOINTS.events} hint={ENDPOINTS.eventsHint}>
      {error && <FailureText failure={failureOf(error)} onRetry={() => void refetch()} />}
      {[...groups].map(([group, members]) => (
        <section key={group} aria-label={group} className={styles.group}>
          <h3>{group}</h3>
          {members.map((type) =>
            type.type === CUSTOM ? (
              <CustomEvents key={CUSTOM} type={type} selected={selected} />
            ) : (
              <EventChoice
                key={type.type}
                type={type}
                isChosen={selected.includes(type.type)}
                onChosen={type.type === WITH_TOOLS ? setHasTools : undefined}
              />
            ),
          )}
          {hasTools && members.some(({ type }) => type === WITH_TOOLS) && <ToolChoice selected={tools} />}
        </section>
      ))}
    </FieldGroup>
  );
}

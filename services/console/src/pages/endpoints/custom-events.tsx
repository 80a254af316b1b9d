import type { EventType } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { ENDPOINTS } from "../../text/en/webhooks/endpoints.ts";
import { Field } from "../../ui/form/form.tsx";
import { TextArea } from "../../ui/form/input.tsx";
import styles from "./endpoints.module.css";
import { EventChoice } from "./event-choice.tsx";

const PREFIX = "custom.";
const ALL = "custom.*";

/** All events that tools send, or some by name. */
export function CustomEvents({ type, selected }: { type: EventType; selected: readonly string[] }) {
  const names = selected.filter((each) => each.startsWith(PREFIX) && each !== ALL);
  return (
    <>
      <p className={styles.dim}>{ENDPOINTS.customText}</p>
      <EventChoice type={type} value={ALL} isChosen={selected.includes(ALL)} />
      <Field name="custom_events" label={ENDPOINTS.customEvents} hint={ENDPOINTS.customHint}>
        {(control) => (
          <TextArea
            {...control}
            data-mono
            rows={2}
            defaultValue={names.map((name) => name.slice(PREFIX.length)).join("\n")}
          />
        )}
      </Field>
    </>
  );
}

import type { EventType } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { useId, useState } from "react";
import { ENDPOINTS } from "../../text/en/webhooks/endpoints.ts";
import { EVENTS } from "../../text/en/webhooks/events.ts";
import { Button } from "../../ui/button.tsx";
import { Checkbox } from "../../ui/form/input.tsx";
import { Icon } from "../../ui/icon.tsx";
import { EventSchema } from "../events/event-schema.tsx";
import styles from "./endpoints.module.css";

interface EventChoiceProps {
  type: EventType;
  /** What is subscribed to, and how it is called; the type itself when not set. */
  value?: string;
  isChosen: boolean;
  onChosen?: ((isChosen: boolean) => void) | undefined;
}

/** A type with when it is sent, and its schema on request. */
export function EventChoice({ type, value = type.type, isChosen, onChosen }: EventChoiceProps) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  return (
    <div className={styles.choice}>
      <Checkbox
        name="events"
        value={value}
        label={<code>{value}</code>}
        aria-describedby={id}
        defaultChecked={isChosen}
        onChange={(event) => onChosen?.(event.target.checked)}
      />
      <p id={id} className={styles.dim}>
        {value === type.type ? type.description : ENDPOINTS.allCustom}
        {!type.hasSource && ` ${ENDPOINTS.noSource}`}
      </p>
      <Button
        kind="quiet"
        aria-expanded={isOpen}
        aria-label={EVENTS.schemaOf(type.type)}
        className={styles.toggle}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="chevron" />
        {EVENTS.showSchema}
      </Button>
      {isOpen && (
        <div className={styles.schema}>
          <EventSchema type={type.type} path={type.schemaPath} />
        </div>
      )}
    </div>
  );
}

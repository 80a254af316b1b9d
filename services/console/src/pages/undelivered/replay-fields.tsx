import { useState } from "react";
import { REPLAY, SELECTIONS, UNDELIVERED } from "../../text/en/webhooks/undelivered.ts";
import { Field, Form } from "../../ui/form/form.tsx";
import { Input, Select } from "../../ui/form/input.tsx";
import { localInput } from "../../ui/list/time-range.tsx";
import { type Endpoints, endpointOptions } from "../deliveries/use-endpoints.ts";
import { ReplayForm, type ReplayStart, type ReplayValues } from "./replay-request.ts";
import { TypesField } from "./types-field.tsx";
import styles from "./undelivered.module.css";

const KEPT_MS = 30 * 86_400_000;
const DEFAULT_RATE = 10;

interface ReplayFieldsProps {
  start: ReplayStart;
  /** What was entered before the preview, to which the user has come back. */
  before: ReplayValues | undefined;
  endpoints: Endpoints;
  onSubmit: (values: ReplayValues) => Promise<unknown>;
  onCancel: () => void;
}

export function ReplayFields({ start, before, endpoints, onSubmit, onCancel }: ReplayFieldsProps) {
  const [types, setTypes] = useState<readonly string[]>(before?.types ?? start.types ?? []);
  const only = endpoints.all.length === 1 ? String(endpoints.all[0]?.id) : "";
  const from = start.from ? new Date(start.from) : new Date(Date.now() - KEPT_MS);
  return (
    <Form
      schema={ReplayForm}
      read={(form) => ({ ...Object.fromEntries(form), types })}
      submit={REPLAY.preview}
      onCancel={onCancel}
      onSubmit={onSubmit}
    >
      <Field name="endpoint_id" label={REPLAY.endpoint}>
        {(control) => (
          <Select
            {...control}
            options={endpointOptions(endpoints, "Choose one", start.endpoint)}
            defaultValue={before?.endpoint_id ?? start.endpoint ?? only}
          />
        )}
      </Field>
      <Field name="selection" label={REPLAY.selection}>
        {(control) => <Select {...control} options={SELECTIONS} defaultValue={before?.selection} />}
      </Field>
      <div className={styles.range}>
        <Field name="from" label={REPLAY.from} hint={REPLAY.fromHint}>
          {(control) => <Input {...control} type="datetime-local" defaultValue={before?.from ?? localInput(from)} />}
        </Field>
        <Field name="to" label={REPLAY.to} hint={REPLAY.toHint}>
          {(control) => (
            <Input
              {...control}
              type="datetime-local"
              defaultValue={before?.to ?? (start.to && localInput(new Date(start.to)))}
            />
          )}
        </Field>
      </div>
      <fieldset className={styles.choice}>
        <legend>{UNDELIVERED.types}</legend>
        <TypesField value={types} onValue={setTypes} />
        <p className={styles.dim}>{REPLAY.typesHint}</p>
      </fieldset>
      <Field name="rate_per_second" label={REPLAY.rate} hint={REPLAY.rateHint}>
        {(control) => <Input {...control} inputMode="numeric" defaultValue={before?.rate_per_second ?? DEFAULT_RATE} />}
      </Field>
    </Form>
  );
}

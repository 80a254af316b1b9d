import type { ModelPrice } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import { MODELS } from "../../text/en/assistants/models.ts";
import { FieldGroup } from "../../ui/form/field-group.tsx";
import { Field } from "../../ui/form/form.tsx";
import { Input } from "../../ui/form/input.tsx";
import styles from "./models.module.css";
import { textOfMicros } from "./price.ts";

/** What a million tokens cost. */
export function PriceFields({ of }: { of: ModelPrice | undefined }) {
  return (
    <FieldGroup name="price" label={MODELS.price} hint={MODELS.priceHint}>
      <div className={styles.price}>
        <Field name="currency" label={MODELS.currency}>
          {(control) => <Input {...control} defaultValue={of?.currency ?? "USD"} maxLength={3} />}
        </Field>
        <Field name="input" label={MODELS.input}>
          {(control) => <Input {...control} inputMode="decimal" defaultValue={of && textOfMicros(of.inputMicros)} />}
        </Field>
        <Field name="output" label={MODELS.output}>
          {(control) => <Input {...control} inputMode="decimal" defaultValue={of && textOfMicros(of.outputMicros)} />}
        </Field>
      </div>
    </FieldGroup>
  );
}

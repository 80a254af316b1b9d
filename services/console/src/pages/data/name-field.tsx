import * as v from "valibot";
import { DATA } from "../../text/en/tools/data.ts";
import { Field } from "../../ui/form/form.tsx";
import { Input } from "../../ui/form/input.tsx";

export const Name = v.pipe(v.string(), v.trim(), v.nonEmpty("Enter a name."));

/** The name of something new; of what exists it is only shown, as tools use it by that name. */
export function NameField({ of, hint = DATA.nameHint }: { of?: string | undefined; hint?: string }) {
  return (
    <Field name="name" label={DATA.name} hint={of === undefined ? hint : undefined}>
      {(control) => (
        <Input {...control} data-mono defaultValue={of} readOnly={of !== undefined} autoFocus={of === undefined} />
      )}
    </Field>
  );
}

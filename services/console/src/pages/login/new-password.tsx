import * as v from "valibot";
import { LINKS } from "../../text/en/links.ts";
import { Field } from "../../ui/form/form.tsx";
import { Input } from "../../ui/form/input.tsx";

const MIN_CHARACTERS = 8;

/** A new password, entered twice. */
export const NewPassword = v.pipe(
  v.object({ new_password: v.pipe(v.string(), v.minLength(MIN_CHARACTERS, LINKS.tooShort)), repeat: v.string() }),
  v.forward(
    v.check(({ new_password, repeat }) => new_password === repeat, LINKS.notTheSame),
    ["repeat"],
  ),
);

export function NewPasswordFields({ autoFocus = false }: { autoFocus?: boolean }) {
  return (
    <>
      <Field name="new_password" label={LINKS.newPassword} hint={LINKS.passwordHint}>
        {(control) => <Input {...control} type="password" autoComplete="new-password" autoFocus={autoFocus} />}
      </Field>
      <Field name="repeat" label={LINKS.repeat}>
        {(control) => <Input {...control} type="password" autoComplete="new-password" />}
      </Field>
    </>
  );
}

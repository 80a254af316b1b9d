import type { Hook } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import * as v from "valibot";
import { HOOKS } from "../../text/en/webhooks/hooks.ts";
import { PROVIDERS } from "../../text/en/webhooks/providers.ts";
import { Field } from "../../ui/form/form.tsx";
import { Input } from "../../ui/form/input.tsx";
import type { Provider } from "./providers.ts";

const wholeNumber = (message: string) =>
  v.pipe(v.string(), v.trim(), v.regex(/^[0-9]{1,6}$/, message), v.transform(Number));

/** What can be changed of a hook without its arguments. */
export const HookValues = v.object({
  name: v.pipe(v.string(), v.trim(), v.nonEmpty("Enter a name.")),
  limit: wholeNumber("Enter a whole number from 1 to 10,000."),
  tolerance_seconds: v.optional(wholeNumber("Enter a whole number from 60 to 3,600.")),
});

export function NameField({ of }: { of?: Pick<Hook, "name"> }) {
  return (
    <Field name="name" label={HOOKS.name} hint={HOOKS.nameHint}>
      {(control) => <Input {...control} defaultValue={of?.name} autoFocus />}
    </Field>
  );
}

interface LimitFieldsProps {
  isTimed: boolean;
  of?: Pick<Hook, "limit" | "toleranceSeconds">;
}

export function LimitFields({ isTimed, of }: LimitFieldsProps) {
  return (
    <>
      <Field name="limit" label={HOOKS.limit} hint={HOOKS.limitHint}>
        {(control) => <Input {...control} inputMode="numeric" defaultValue={of?.limit ?? 60} />}
      </Field>
      {isTimed && (
        <Field name="tolerance_seconds" label={HOOKS.tolerance} hint={HOOKS.toleranceHint}>
          {(control) => <Input {...control} inputMode="numeric" defaultValue={of?.toleranceSeconds ?? 300} />}
        </Field>
      )}
    </>
  );
}

const LATER = {
  ours: "",
  provider: HOOKS.secretLater,
  chosen: HOOKS.secretChosen,
  either: HOOKS.secretEither,
} as const;

/** [AUTH-20] The provider's own secret, where it has one. */
export function SecretField({ provider, isRotation = false }: { provider: Provider; isRotation?: boolean }) {
  const { secret, secretHint } = PROVIDERS[provider.id];
  if (provider.secret === "ours") return null;
  const hint = isRotation && provider.secret === "provider" ? secretHint : `${secretHint} ${LATER[provider.secret]}`;
  return (
    <Field name="provider_secret" label={secret} hint={hint}>
      {(control) => <Input {...control} data-mono type="password" autoComplete="new-password" />}
    </Field>
  );
}

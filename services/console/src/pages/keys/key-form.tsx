import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Key } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import * as v from "valibot";
import { KEYS } from "../../text/en/keys.ts";
import { Field } from "../../ui/form/form.tsx";
import { Input, TextArea } from "../../ui/form/input.tsx";
import { KeyToolsField } from "./key-tools-field.tsx";

export const KeyValues = v.object({
  name: v.pipe(v.string(), v.trim(), v.nonEmpty("Enter a name.")),
  tools: v.array(v.string()),
  limit: v.pipe(v.string(), v.regex(/^[0-9]+$/, "Enter a whole number from 1 to 10,000."), v.transform(Number)),
  expiry: v.string(),
  allowed_networks: v.pipe(
    v.string(),
    v.transform((text) => text.split(/[\s,]+/).filter(Boolean)),
  ),
});

export function readKey(form: FormData): unknown {
  return { ...Object.fromEntries(form), tools: form.getAll("tools") };
}

/** The expiry of a request: the end of a day, or none. */
export function expiryOf(date: string) {
  return date === "" ? { at: { case: undefined } } : { at: { case: "date" as const, value: date } };
}

/** A key as its form has it. */
export function keyValuesOf({ name, tools, limit, expiresAt, allowedNetworks }: Key): v.InferOutput<typeof KeyValues> {
  const expiry = expiresAt ? lastDay(timestampDate(expiresAt)) : "";
  return { name, tools, limit, expiry, allowed_networks: allowedNetworks };
}

export type KeyField = "tools" | "limit" | "expiry" | "allowed_networks";

interface KeyFieldsProps {
  of?: Key;
  /** The field whose control `firstRef` gets. */
  first?: KeyField | undefined;
  firstRef?: (element: HTMLElement | null) => void;
}

/** The fields of a key, for a new one or one that exists. */
export function KeyFields({ of, first, firstRef }: KeyFieldsProps) {
  const refOf = (field: KeyField) => (field === first ? firstRef : undefined);
  return (
    <>
      <Field name="name" label={KEYS.name} hint={KEYS.nameHint}>
        {(control) => <Input {...control} defaultValue={of?.name} />}
      </Field>
      <KeyToolsField of={of} firstRef={refOf("tools")} />
      <Field name="limit" label={KEYS.limit}>
        {(control) => <Input {...control} ref={refOf("limit")} inputMode="numeric" defaultValue={of?.limit ?? 60} />}
      </Field>
      <Field name="expiry" label={KEYS.expiry} hint={KEYS.expiryHint}>
        {(control) => (
          <Input
            {...control}
            ref={refOf("expiry")}
            type="date"
            defaultValue={of?.expiresAt && lastDay(timestampDate(of.expiresAt))}
          />
        )}
      </Field>
      <Field name="allowed_networks" label={KEYS.networks} hint={KEYS.networksHint}>
        {(control) => (
          <TextArea
            {...control}
            ref={refOf("allowed_networks")}
            data-mono
            rows={2}
            defaultValue={of?.allowedNetworks.join("\n")}
          />
        )}
      </Field>
    </>
  );
}

/** The last day on which a key is valid: an expiry at midnight ends the day before. */
function lastDay(expiresAt: Date): string {
  return new Date(expiresAt.getTime() - 1).toISOString().slice(0, 10);
}

import * as v from "valibot";
import { MAPPING } from "../../../text/en/webhooks/hooks.ts";
import { Field } from "../../../ui/form/form.tsx";
import { Select } from "../../../ui/form/input.tsx";
import type { Parameter } from "../use-targets.ts";
import { PointerRows } from "./pointer-rows.tsx";
import { EMPTY_ROW, faultOf, SOURCES, type Source, takesPayload } from "./pointers.ts";

const HINTS = { fields: MAPPING.fieldsHint, payload: MAPPING.payloadHint, mapping: MAPPING.mappingHint } as const;

/** Of a form's schema: a fault of the rows shows at the field of the source. */
export function argumentsValue(source: Source) {
  const fault = faultOf(source);
  return v.optional(
    v.pipe(
      v.string(),
      v.check(() => fault === "", fault),
    ),
  );
}

interface ArgumentsFieldsProps {
  source: Source;
  onSource: (source: Source) => void;
  parameters: readonly Parameter[] | undefined;
  suggestions?: readonly string[];
  violations?: ReadonlyMap<string, string>;
}

/** [IN-7] [IN-40] Where a target's arguments come from. */
export function ArgumentsFields({ source, onSource, parameters, ...marks }: ArgumentsFieldsProps) {
  const { from, rows } = source;
  const options = SOURCES.filter((each) => each !== "payload" || from === each || takesPayload(parameters)).map(
    (each) => [each, MAPPING[each]] as const,
  );
  const choose = (value: string) => {
    const chosen = SOURCES.find((each) => each === value) ?? "fields";
    onSource({ from: chosen, rows: chosen === "mapping" && rows.length === 0 ? firstRows(parameters) : rows });
  };
  return (
    <>
      <Field name="arguments" label={MAPPING.source} hint={HINTS[from]}>
        {(control) => <Select {...control} options={options} value={from} onValue={choose} />}
      </Field>
      {from !== "fields" && (
        <PointerRows rows={rows} onRows={(next) => onSource({ from, rows: next })} parameters={parameters} {...marks} />
      )}
    </>
  );
}

/** What the tool needs at least. */
function firstRows(parameters: readonly Parameter[] | undefined) {
  const required = (parameters ?? []).filter(({ isRequired }) => isRequired);
  if (required.length === 0) return [EMPTY_ROW];
  return required.map(({ name }) => ({ argument: name, pointer: `/${name}` }));
}

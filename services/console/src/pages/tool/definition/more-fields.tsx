import { EDITOR } from "../../../text/en/tools/tool-editor.ts";
import { Field } from "../../../ui/form/form.tsx";
import { Input, TextArea } from "../../../ui/form/input.tsx";
import { JsonField } from "../../definition/json-field.tsx";
import type { Draft } from "../../definition/use-draft.ts";
import styles from "./tool-definition.module.css";

const LIMITS = [
  ["timeout_ms", EDITOR.timeoutHint],
  ["max_result_bytes", EDITOR.maxResultHint],
] as const;

/** What documents for callers say, and the limits of a run. */
export function MoreFields({ draft, readOnly }: { draft: Draft; readOnly: boolean }) {
  const { definition, set } = draft;
  return (
    <section className={styles.more} aria-label={EDITOR.more}>
      <h2>{EDITOR.more}</h2>
      <Field
        name="external_api_description"
        label={EDITOR.external_api_description}
        hint={EDITOR.externalDescriptionHint}
      >
        {(control) => (
          <TextArea
            {...control}
            rows={2}
            readOnly={readOnly}
            value={String(definition.external_api_description ?? "")}
            onChange={({ target }) => set("external_api_description", target.value || undefined)}
          />
        )}
      </Field>
      {(["args_fixture", "external_api_response"] as const).map((member) => (
        <JsonField
          key={member}
          part={member}
          label={EDITOR[member]}
          hint={EDITOR[`${member}Hint`]}
          value={definition[member]}
          onValue={(value) => set(member, value)}
          draft={draft}
          mustBeObject
          readOnly={readOnly}
        />
      ))}
      <div className={styles.limits}>
        {LIMITS.map(([member, hint]) => (
          <Field key={member} name={member} label={EDITOR[member]} hint={hint}>
            {(control) => (
              <Input
                {...control}
                inputMode="numeric"
                readOnly={readOnly}
                value={String(definition[member] ?? "")}
                onChange={({ target }) => set(member, readNumber(target.value))}
              />
            )}
          </Field>
        ))}
      </div>
    </section>
  );
}

/** What is no number stays as it is typed, and the check says what is wrong with it. */
function readNumber(text: string): number | string | undefined {
  if (text.trim() === "") return undefined;
  return /^[0-9]{1,15}$/.test(text.trim()) ? Number(text) : text;
}

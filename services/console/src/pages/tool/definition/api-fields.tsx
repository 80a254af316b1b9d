import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { EDITOR } from "../../../text/en/tools/tool-editor.ts";
import { Field } from "../../../ui/form/form.tsx";
import { Input, Select } from "../../../ui/form/input.tsx";
import { JsonField } from "../../definition/json-field.tsx";
import type { Draft } from "../../definition/use-draft.ts";
import styles from "./tool-definition.module.css";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

interface ApiFieldsProps {
  api: JsonObject;
  draft: Draft;
  readOnly: boolean;
}

/** One HTTP request, whose texts may contain placeholders. */
export function ApiFields({ api, draft, readOnly }: ApiFieldsProps) {
  const set = (member: string, value: JsonValue | undefined) => {
    const { ...next } = api;
    if (value === undefined) delete next[member];
    else next[member] = value;
    draft.set("api", next);
  };
  const text = (value: JsonValue | undefined) => (typeof value === "string" ? value : "");
  return (
    <>
      <fieldset className={styles.request} disabled={readOnly}>
        <Field name="api.method" label={EDITOR.method}>
          {(control) => (
            <Select
              {...control}
              options={[...new Set([...METHODS, text(api.method)])].map((method) => [method, method])}
              value={text(api.method)}
              onValue={(method) => set("method", method)}
            />
          )}
        </Field>
        <Field name="api.url" label={EDITOR.url} hint={EDITOR.urlHint}>
          {(control) => (
            <Input {...control} data-mono value={text(api.url)} onChange={({ target }) => set("url", target.value)} />
          )}
        </Field>
      </fieldset>
      {(["headers", "body"] as const).map((member) => (
        <JsonField
          key={member}
          part={`api.${member}`}
          label={EDITOR[member]}
          value={api[member]}
          onValue={(value) => set(member, value)}
          draft={draft}
          mustBeObject={member === "headers"}
          readOnly={readOnly}
        />
      ))}
    </>
  );
}

import type { JsonValue } from "@bufbuild/protobuf";
import { type ReactNode, use, useState } from "react";
import { CodeEditor } from "../../ui/code/code-editor.tsx";
import { readJson, readJsonObject } from "../../ui/code/read-json.ts";
import { ErrorsContext } from "../../ui/form/form.tsx";
import { EditorField } from "./editor-field.tsx";
import type { Draft } from "./use-draft.ts";

interface JsonFieldProps {
  /** The part of the definition, such as args_fixture. */
  part: string;
  label: string;
  hint?: string;
  /** Beside the label. */
  action?: ReactNode;
  value: JsonValue | undefined;
  onValue: (value: JsonValue | undefined) => void;
  draft: Pick<Draft, "broken" | "setBroken">;
  /** Only objects are taken. */
  mustBeObject?: boolean;
  isRequired?: boolean;
  size?: "small" | "large";
  readOnly: boolean;
}

/** A value as JSON text. A text that is no JSON yet stays here, and keeps the draft from being saved. */
export function JsonField(props: JsonFieldProps) {
  const {
    part,
    label,
    hint,
    action,
    value,
    onValue,
    draft,
    mustBeObject = false,
    isRequired = false,
    size,
    readOnly,
  } = props;
  const [text, setText] = useState(() => (value === undefined ? "" : JSON.stringify(value, null, 2)));
  const refused = use(ErrorsContext)[part];
  const changed = (next: string) => {
    setText(next);
    const isLeftOut = next.trim() === "" && !isRequired;
    const { wrong, value: read } = isLeftOut ? {} : (mustBeObject ? readJsonObject : readJson)(next);
    draft.setBroken(part, wrong);
    if (wrong === undefined) onValue(read);
  };
  return (
    <EditorField label={label} hint={hint} action={action} error={draft.broken[part] ?? refused}>
      <CodeEditor label={label} value={text} onValue={changed} language="json" size={size} readOnly={readOnly} />
    </EditorField>
  );
}

import { use, useState } from "react";
import { EDITOR } from "../../../../text/en/tools/tool-editor.ts";
import { Button } from "../../../../ui/button.tsx";
import { ErrorsContext } from "../../../../ui/form/form.tsx";
import { ViewChoice } from "../../../definition/choice.tsx";
import { EditorField } from "../../../definition/editor-field.tsx";
import { JsonField } from "../../../definition/json-field.tsx";
import type { Draft } from "../../../definition/use-draft.ts";
import { ParameterFields } from "./parameter-fields.tsx";
import { areNamed, type ParameterRow, rowsOf, schemaOf } from "./parameter-rows.ts";

const PART = "parameters";
const NEW: ParameterRow = { name: "", type: "string", isRequired: false, description: "", rest: {} };

interface ParametersFieldProps {
  draft: Draft;
  readOnly: boolean;
}

/** [TOOL-22] The arguments of a tool, as rows or as the JSON Schema that they are. */
export function ParametersField({ draft, readOnly }: ParametersFieldProps) {
  const { definition, set, broken, setBroken } = draft;
  const schema = definition.parameters;
  const refused = use(ErrorsContext)[PART];
  const [rows, setRows] = useState(() => rowsOf(schema));
  const isBroken = broken[PART] !== undefined;
  const show = (view: "form" | "json") => setRows(view === "form" ? rowsOf(schema) : undefined);
  const change = (next: ParameterRow[]) => {
    setRows(next);
    setBroken(PART, areNamed(next) ? undefined : EDITOR.nameTwice);
    if (areNamed(next)) set(PART, schemaOf(next, schema));
  };
  const cannotSwitch = isBroken ? broken[PART] : !rows && !rowsOf(schema) ? EDITOR.noForm : undefined;
  const choice = (
    <ViewChoice label={EDITOR.parametersAre} view={rows ? "form" : "json"} onView={show} locked={cannotSwitch} />
  );
  if (!rows) {
    return (
      <JsonField
        part={PART}
        label={EDITOR.parameters}
        hint={cannotSwitch === EDITOR.noForm ? EDITOR.noForm : EDITOR.parametersHint}
        action={choice}
        value={schema}
        onValue={(value) => set(PART, value)}
        draft={draft}
        readOnly={readOnly}
      />
    );
  }
  return (
    <EditorField label={EDITOR.parameters} hint={EDITOR.parametersHint} error={broken[PART] ?? refused} action={choice}>
      <ParameterFields rows={rows} onRows={change} readOnly={readOnly} />
      {!readOnly && (
        <div>
          <Button onClick={() => change([...rows, NEW])}>{EDITOR.addParameter}</Button>
        </div>
      )}
    </EditorField>
  );
}

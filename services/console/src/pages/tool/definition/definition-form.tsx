import type { ToolViolation } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { EDITOR } from "../../../text/en/tools/tool-editor.ts";
import { Field } from "../../../ui/form/form.tsx";
import { TextArea } from "../../../ui/form/input.tsx";
import type { Draft } from "../../definition/use-draft.ts";
import { BodyField } from "./body-field.tsx";
import { FlagsField } from "./flags-field.tsx";
import { MoreFields } from "./more-fields.tsx";
import { ParametersField } from "./parameters/parameters-field.tsx";

interface DefinitionFormProps {
  draft: Draft;
  violations: readonly ToolViolation[];
  readOnly: boolean;
}

export function DefinitionForm({ draft, violations, readOnly }: DefinitionFormProps) {
  return (
    <>
      <Field name="description" label={EDITOR.description} hint={EDITOR.descriptionHint}>
        {(control) => (
          <TextArea
            {...control}
            rows={2}
            readOnly={readOnly}
            value={String(draft.definition.description ?? "")}
            onChange={({ target }) => draft.set("description", target.value)}
          />
        )}
      </Field>
      <BodyField draft={draft} violations={violations} readOnly={readOnly} />
      <ParametersField draft={draft} readOnly={readOnly} />
      <FlagsField draft={draft} readOnly={readOnly} />
      <MoreFields draft={draft} readOnly={readOnly} />
    </>
  );
}

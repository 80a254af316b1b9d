import { useQuery } from "@connectrpc/connect-query";
import { useQuery as usePlainQuery } from "@tanstack/react-query";
import { ModelService } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import { useState } from "react";
import { readAllTools } from "../../../rpc/all-tools.ts";
import { useWorkspace } from "../../../rpc/use-session.ts";
import { ASSISTANT_EDITOR } from "../../../text/en/assistants/assistants.ts";
import { Field } from "../../../ui/form/form.tsx";
import { TextArea } from "../../../ui/form/input.tsx";
import type { Draft } from "../../definition/use-draft.ts";
import { namesIn } from "../assistant-version.ts";
import { FlagsField } from "./flags-field.tsx";
import { NamesField } from "./names-field.tsx";

const MAX_MODELS = 5;
const MAX_TOOLS = 100;

export function DefinitionForm({ draft, readOnly }: { draft: Draft; readOnly: boolean }) {
  const workspace = useWorkspace();
  const { definition, set } = draft;
  const models = useQuery(ModelService.method.listModels, { workspace });
  const tools = usePlainQuery({
    queryKey: ["tools of assistants", workspace],
    queryFn: () => readAllTools(workspace, { summary: true }),
  });
  const setNames = (member: "models" | "tools") => (names: readonly string[]) =>
    set(member, names.length === 0 ? undefined : [...names]);
  return (
    <>
      <TextField draft={draft} member="instructions" rows={10} readOnly={readOnly} />
      <NamesField
        label={ASSISTANT_EDITOR.models}
        hint={ASSISTANT_EDITOR.modelsHint}
        names={namesIn(definition, "models")}
        options={models.data?.models.map(({ name }) => name)}
        max={MAX_MODELS}
        isOrdered
        onNames={setNames("models")}
        readOnly={readOnly}
      />
      <NamesField
        label={ASSISTANT_EDITOR.tools}
        hint={ASSISTANT_EDITOR.toolsHint}
        names={namesIn(definition, "tools")}
        options={tools.data?.map(({ name }) => name)}
        max={MAX_TOOLS}
        onNames={setNames("tools")}
        readOnly={readOnly}
      />
      <TextField draft={draft} member="greeting" rows={2} readOnly={readOnly} />
      <SuggestionsField draft={draft} readOnly={readOnly} />
      <FlagsField draft={draft} readOnly={readOnly} />
    </>
  );
}

interface TextFieldProps {
  draft: Draft;
  member: "instructions" | "greeting";
  rows: number;
  readOnly: boolean;
}

function TextField({ draft: { definition, set }, member, rows, readOnly }: TextFieldProps) {
  return (
    <Field name={member} label={ASSISTANT_EDITOR[member]} hint={ASSISTANT_EDITOR[`${member}Hint`]}>
      {(control) => (
        <TextArea
          {...control}
          rows={rows}
          readOnly={readOnly}
          value={String(definition[member] ?? "")}
          onChange={({ target }) => set(member, target.value || undefined)}
        />
      )}
    </Field>
  );
}

/** The text as it is typed stays here: a line that is still empty is no suggestion yet. */
function SuggestionsField({ draft: { definition, set }, readOnly }: { draft: Draft; readOnly: boolean }) {
  const [text, setText] = useState(() => namesIn(definition, "suggestions").join("\n"));
  const changed = (next: string) => {
    setText(next);
    const lines = next.split("\n").filter((line) => line.trim() !== "");
    set("suggestions", lines.length === 0 ? undefined : lines);
  };
  return (
    <Field name="suggestions" label={ASSISTANT_EDITOR.suggestions} hint={ASSISTANT_EDITOR.suggestionsHint}>
      {(control) => (
        <TextArea
          {...control}
          rows={3}
          readOnly={readOnly}
          value={text}
          onChange={({ target }) => changed(target.value)}
        />
      )}
    </Field>
  );
}

import { useMemo } from "react";
import { useCanManage } from "../../../rpc/use-session.ts";
import { DefinitionEditor } from "../../definition/definition-editor.tsx";
import { useDraft } from "../../definition/use-draft.ts";
import { AssistantExposure } from "../assistant-exposure.tsx";
import type { AssistantTabProps } from "../assistant-tab.ts";
import { versionOf } from "../assistant-version.ts";
import { useSaveAssistant } from "../use-save-assistant.ts";
import { CompareAssistant } from "./compare-assistant.tsx";
import { DefaultState } from "./default-state.tsx";
import { DefinitionForm } from "./definition-form.tsx";
import { DeleteAssistant } from "./delete-assistant.tsx";

export default function DefinitionTab({ assistant, onChanged }: AssistantTabProps) {
  const { name, isDefault } = assistant;
  const readOnly = !useCanManage();
  const newest = useMemo(() => versionOf(assistant), [assistant]);
  const draft = useDraft(newest);
  return (
    <DefinitionEditor
      newest={newest}
      draft={draft}
      save={useSaveAssistant(name)}
      onSaved={onChanged}
      state={<DefaultState assistant={assistant} readOnly={readOnly} onChanged={onChanged} />}
      form={<DefinitionForm draft={draft} readOnly={readOnly} />}
      compare={(onClose) => <CompareAssistant name={name} draft={draft.definition} onClose={onClose} />}
      remove={isDefault ? undefined : (onClose) => <DeleteAssistant name={name} onClose={onClose} />}
      askExposure={(question) => <AssistantExposure name={name} definition={draft.definition} {...question} />}
    />
  );
}

import type { JsonObject } from "@bufbuild/protobuf";
import { useMemo, useState } from "react";
import { useCanManage } from "../../../rpc/use-session.ts";
import { EDITOR } from "../../../text/en/tool-editor.ts";
import { useShortcut } from "../../../ui/shortcuts.ts";
import type { View } from "../../definition/choice.tsx";
import styles from "../../definition/definition.module.css";
import { EditorBar } from "../../definition/editor-bar.tsx";
import { JsonField } from "../../definition/json-field.tsx";
import { LeaveGuard } from "../../definition/leave-guard.tsx";
import { useDraft } from "../../definition/use-draft.ts";
import { useSave } from "../../definition/use-save.ts";
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
  const saving = useSave(draft, useSaveAssistant(name), onChanged);
  const [view, setView] = useState<View>("form");
  const isBroken = Object.keys(draft.broken).length > 0;
  const canSave = !readOnly && !isBroken && (draft.isChanged || draft.base.version === 0);
  const save = () => {
    if (canSave && !saving.isPending && !saving.question) void saving.save();
  };
  useShortcut("mod+s", save);
  return (
    <div className={styles.tab}>
      <EditorBar
        newest={newest}
        draft={draft}
        saving={saving}
        view={view}
        onView={setView}
        onSave={save}
        canSave={canSave}
        readOnly={readOnly}
        compare={(onClose) => <CompareAssistant name={name} draft={draft.definition} onClose={onClose} />}
        remove={isDefault ? undefined : (onClose) => <DeleteAssistant name={name} onClose={onClose} />}
      >
        <DefaultState assistant={assistant} readOnly={readOnly} onChanged={onChanged} />
      </EditorBar>
      <div className={styles.form} key={`${view} ${draft.generation}`}>
        {view === "form" ? (
          <DefinitionForm draft={draft} readOnly={readOnly} />
        ) : (
          <JsonField
            part="definition"
            label={EDITOR.definition}
            value={draft.definition}
            onValue={(value) => draft.rewrite(value as JsonObject)}
            draft={draft}
            mustBeObject
            isRequired
            size="large"
            readOnly={readOnly}
          />
        )}
      </div>
      <LeaveGuard isChanged={draft.isChanged} />
      {saving.question && (
        <AssistantExposure
          name={name}
          definition={draft.definition}
          flags={saving.question.flags}
          onClose={saving.closeQuestion}
          onConfirm={() => saving.save({ confirmExposure: true, overwrite: saving.question?.overwrite ?? false })}
        />
      )}
    </div>
  );
}

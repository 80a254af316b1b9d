import type { JsonObject } from "@bufbuild/protobuf";
import { useState } from "react";
import { useCanManage } from "../../../rpc/use-session.ts";
import { EDITOR } from "../../../text/en/tool-editor.ts";
import { FieldErrors } from "../../../ui/form/form.tsx";
import { useShortcut } from "../../../ui/shortcuts.ts";
import { ExposureDialog } from "../exposure/exposure-dialog.tsx";
import type { ToolTabProps } from "../tool-tab.ts";
import type { View } from "./choice.tsx";
import styles from "./definition.module.css";
import { DefinitionForm } from "./definition-form.tsx";
import { DryRun } from "./dry-run.tsx";
import { EditorBar } from "./editor-bar.tsx";
import { JsonField } from "./json-field.tsx";
import { LeaveGuard } from "./leave-guard.tsx";
import { Problems } from "./problems.tsx";
import { useCheck } from "./use-check.ts";
import { useDraft } from "./use-draft.ts";
import { useSave } from "./use-save.ts";

export default function DefinitionTab({ tool, onChanged }: ToolTabProps) {
  const readOnly = !useCanManage();
  const draft = useDraft(tool);
  const check = useCheck(tool.name, draft.definition);
  const saving = useSave(tool.name, draft, onChanged);
  const [view, setView] = useState<View>("form");
  const isBroken = Object.keys(draft.broken).length > 0;
  const canSave = !readOnly && !isBroken && (draft.isChanged || draft.base.version === 0);
  const save = () => {
    if (canSave && !saving.isPending && !saving.question) void saving.save();
  };
  useShortcut("mod+s", save);
  const violations = check?.violations ?? [];
  return (
    <div className={styles.tab}>
      <EditorBar
        newest={tool}
        draft={draft}
        saving={saving}
        view={view}
        onView={setView}
        onSave={save}
        canSave={canSave}
        readOnly={readOnly}
      />
      <div className={styles.columns}>
        <FieldErrors errors={errorsByField(violations)}>
          <div className={styles.form} key={`${view} ${draft.generation}`}>
            {view === "form" ? (
              <DefinitionForm draft={draft} violations={violations} readOnly={readOnly} />
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
        </FieldErrors>
        {!readOnly && (
          <div className={styles.side}>
            <Problems check={check} broken={draft.broken} />
            <DryRun draft={draft} />
          </div>
        )}
      </div>
      <LeaveGuard isChanged={draft.isChanged} />
      {saving.question && (
        <ExposureDialog
          tool={tool.name}
          definition={draft.definition}
          flags={saving.question.flags}
          onClose={saving.closeQuestion}
          onConfirm={() => saving.save({ confirmExposure: true, overwrite: saving.question?.overwrite ?? false })}
        />
      )}
    </div>
  );
}

/** By the name of the member, or of the part of an API call. */
function errorsByField(violations: readonly { path: string; message: string }[]): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const { path, message } of violations) {
    const field = /^api\.\w+|^\w+/.exec(path)?.[0] ?? "";
    errors[field] ??= path === field ? message : `${path.slice(field.length + 1)} ${message}`;
  }
  return errors;
}

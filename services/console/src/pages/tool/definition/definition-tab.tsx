import type { JsonObject } from "@bufbuild/protobuf";
import { useMutation } from "@connectrpc/connect-query";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { useState } from "react";
import { useCanManage, useWorkspace } from "../../../rpc/use-session.ts";
import { EDITOR } from "../../../text/en/tool-editor.ts";
import { FieldErrors } from "../../../ui/form/form.tsx";
import { useShortcut } from "../../../ui/shortcuts.ts";
import type { View } from "../../definition/choice.tsx";
import styles from "../../definition/definition.module.css";
import { EditorBar } from "../../definition/editor-bar.tsx";
import { JsonField } from "../../definition/json-field.tsx";
import { LeaveGuard } from "../../definition/leave-guard.tsx";
import { useDraft } from "../../definition/use-draft.ts";
import { useSave } from "../../definition/use-save.ts";
import { ToolFlags } from "../../tools/tool-flags.tsx";
import { ToolExposure } from "../exposure/tool-exposure.tsx";
import type { ToolTabProps } from "../tool-tab.ts";
import { CompareTool } from "./compare-tool.tsx";
import { DefinitionForm } from "./definition-form.tsx";
import { DeleteTool } from "./delete-tool.tsx";
import { DryRun } from "./dry-run.tsx";
import { Problems } from "./problems.tsx";
import { useCheck } from "./use-check.ts";

export default function DefinitionTab({ tool, onChanged }: ToolTabProps) {
  const readOnly = !useCanManage();
  const draft = useDraft(tool);
  const check = useCheck(tool.name, draft.definition);
  const workspace = useWorkspace();
  const { name } = tool;
  const { mutateAsync } = useMutation(ToolService.method.saveTool);
  const saving = useSave(draft, async (save) => (await mutateAsync({ workspace, name, ...save })).tool, onChanged);
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
        compare={(onClose) => <CompareTool name={name} draft={draft.definition} onClose={onClose} />}
        remove={(onClose) => <DeleteTool name={name} onClose={onClose} />}
      >
        <ToolFlags definition={draft.definition} />
      </EditorBar>
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
        <ToolExposure
          tool={name}
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

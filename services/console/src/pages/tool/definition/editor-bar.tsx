import type { Tool } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { useState } from "react";
import { EDITOR, VERSIONS } from "../../../text/en/tool-editor.ts";
import { Button } from "../../../ui/button.tsx";
import { FailureText } from "../../../ui/page/failure.tsx";
import { Status } from "../../../ui/status.tsx";
import { Time } from "../../../ui/time.tsx";
import { ToolFlags } from "../../tools/tool-flags.tsx";
import { type View, ViewChoice } from "./choice.tsx";
import { CompareTool } from "./compare-tool.tsx";
import styles from "./definition.module.css";
import { DeleteTool } from "./delete-tool.tsx";
import type { Draft } from "./use-draft.ts";
import type { useSave } from "./use-save.ts";

interface EditorBarProps {
  /** The tool as it is saved now, maybe by somebody else. */
  newest: Tool;
  draft: Draft;
  saving: ReturnType<typeof useSave>;
  view: View;
  onView: (view: View) => void;
  onSave: () => void;
  canSave: boolean;
  readOnly: boolean;
}

/** What is open, whether it is saved, and what can be done with it. */
export function EditorBar(props: EditorBarProps) {
  const { newest, draft, saving, view, onView, onSave, canSave, readOnly } = props;
  const [dialog, setDialog] = useState<"delete" | "compare">();
  const { base, isChanged, broken } = draft;
  const isNewer = newest.version > base.version && isChanged;
  const { failure } = saving;
  const compare = <Button onClick={() => setDialog("compare")}>{EDITOR.compare}</Button>;
  return (
    <>
      <div className={styles.bar}>
        <span className={styles.state}>
          {base.version === 0 ? (
            <Status tone="warn">{EDITOR.notSaved}</Status>
          ) : (
            <span className={styles.dim}>
              {VERSIONS.version(base.version)}, {EDITOR.savedAt} <Time at={base.savedAt} /> by {base.savedBy}
            </span>
          )}
          {isChanged && base.version > 0 && <Status tone="warn">{EDITOR.unsaved}</Status>}
          <ToolFlags definition={draft.definition} />
        </span>
        <ViewChoice label={EDITOR.view} view={view} onView={onView} locked={Object.values(broken)[0]} />
        {!readOnly && base.version > 0 && (
          <Button kind="danger" onClick={() => setDialog("delete")}>
            {EDITOR.delete}
          </Button>
        )}
        {!readOnly && (
          <Button
            kind="primary"
            title="Ctrl S"
            disabled={!canSave && !saving.isPending}
            pending={saving.isPending}
            onClick={onSave}
          >
            {saving.isPending ? EDITOR.saving : EDITOR.save}
          </Button>
        )}
      </div>
      {readOnly && <p className={styles.dim}>{EDITOR.readOnly}</p>}
      {isNewer && !failure && (
        <div role="status" className={styles.newer}>
          <Status tone="warn" icon="warn">
            {EDITOR.newer(newest.savedBy, newest.version)}
          </Status>
          {compare}
        </div>
      )}
      {failure && (
        <div className={styles.failure}>
          <FailureText failure={failure} />
          {failure.isConflict && (
            <>
              {compare}
              <Button kind="danger" onClick={() => void saving.save({ overwrite: true })}>
                {EDITOR.saveOver}
              </Button>
            </>
          )}
        </div>
      )}
      {dialog === "delete" && <DeleteTool name={newest.name} onClose={() => setDialog(undefined)} />}
      {dialog === "compare" && (
        <CompareTool name={newest.name} draft={draft.definition} onClose={() => setDialog(undefined)} />
      )}
    </>
  );
}

import { type ReactNode, useState } from "react";
import { EDITOR, VERSIONS } from "../../text/en/tools/tool-editor.ts";
import { Button } from "../../ui/button.tsx";
import { FailureText } from "../../ui/page/failure.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { type View, ViewChoice } from "./choice.tsx";
import styles from "./definition.module.css";
import type { Draft } from "./use-draft.ts";
import type { Saving } from "./use-save.ts";
import type { Versioned } from "./versioned.ts";

interface EditorBarProps {
  /** As it is saved now, maybe by somebody else. */
  newest: Versioned;
  draft: Draft;
  saving: Saving;
  view: View;
  onView: (view: View) => void;
  onSave: () => void;
  canSave: boolean;
  readOnly: boolean;
  /** The dialog that compares the draft with what is saved now. */
  compare: (onClose: () => void) => ReactNode;
  /** The dialog that deletes it; undefined when it cannot be deleted. */
  remove: ((onClose: () => void) => ReactNode) | undefined;
  /** What the draft is, in a few words. */
  children?: ReactNode;
}

/** What is open, whether it is saved, and what can be done with it. */
export function EditorBar(props: EditorBarProps) {
  const { newest, draft, saving, view, onView, onSave, canSave, readOnly, remove, children } = props;
  const [dialog, setDialog] = useState<"delete" | "compare">();
  const { base, isChanged, broken } = draft;
  const isNewer = newest.version > base.version && isChanged;
  const { failure } = saving;
  const close = () => setDialog(undefined);
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
          {children}
        </span>
        <ViewChoice label={EDITOR.view} view={view} onView={onView} locked={Object.values(broken)[0]} />
        {!readOnly && remove && base.version > 0 && (
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
      {dialog === "delete" && remove?.(close)}
      {dialog === "compare" && props.compare(close)}
    </>
  );
}

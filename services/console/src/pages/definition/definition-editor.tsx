import type { JsonObject } from "@bufbuild/protobuf";
import { type ReactNode, useState } from "react";
import { useCanManage } from "../../rpc/use-session.ts";
import { EDITOR } from "../../text/en/tools/tool-editor.ts";
import { useShortcut } from "../../ui/shortcuts.ts";
import type { View } from "./choice.tsx";
import styles from "./definition.module.css";
import { EditorBar } from "./editor-bar.tsx";
import type { ExposureQuestion } from "./exposure-dialog.tsx";
import { JsonField } from "./json-field.tsx";
import { LeaveGuard } from "./leave-guard.tsx";
import type { Draft } from "./use-draft.ts";
import { type Save, useSave } from "./use-save.ts";
import type { Versioned } from "./versioned.ts";

interface DefinitionEditorProps {
  /** As it is saved now, maybe by somebody else. */
  newest: Versioned;
  draft: Draft;
  save: (save: Save) => Promise<Versioned | undefined>;
  onSaved: () => void;
  /** What the draft is, in a few words. */
  state: ReactNode;
  /** The fields of the draft, instead of its JSON. */
  form: ReactNode;
  /** Beside the draft. */
  side?: ReactNode;
  /** The dialog that compares the draft with what is saved now. */
  compare: (onClose: () => void) => ReactNode;
  /** The dialog that deletes it; undefined when it cannot be deleted. */
  remove: ((onClose: () => void) => ReactNode) | undefined;
  askExposure: (question: ExposureQuestion) => ReactNode;
}

/** Edits a definition, as a form or as JSON, and saves it as a new version. */
export function DefinitionEditor(props: DefinitionEditorProps) {
  const { newest, draft, state, form, side, compare, remove, askExposure } = props;
  const readOnly = !useCanManage();
  const saving = useSave(draft, props.save, props.onSaved);
  const [view, setView] = useState<View>("form");
  const isBroken = Object.keys(draft.broken).length > 0;
  const canSave = !readOnly && !isBroken && (draft.isChanged || draft.base.version === 0);
  const save = () => {
    if (canSave && !saving.isPending && !saving.question) void saving.save();
  };
  useShortcut("mod+s", save);
  const { question } = saving;
  return (
    <div className={styles.tab}>
      <EditorBar
        {...{ newest, draft, saving, view, canSave, readOnly, compare, remove }}
        onView={setView}
        onSave={save}
      >
        {state}
      </EditorBar>
      <div className={side === undefined ? undefined : styles.columns}>
        <div className={styles.form} key={`${view} ${draft.generation}`}>
          {view === "form" ? form : <WholeDefinition draft={draft} readOnly={readOnly} />}
        </div>
        {side && <div className={styles.side}>{side}</div>}
      </div>
      <LeaveGuard isChanged={draft.isChanged} />
      {question &&
        askExposure({
          flags: question.flags,
          onClose: saving.closeQuestion,
          onConfirm: () => saving.save({ confirmExposure: true, overwrite: question.overwrite }),
        })}
    </div>
  );
}

function WholeDefinition({ draft, readOnly }: { draft: Draft; readOnly: boolean }) {
  return (
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
  );
}

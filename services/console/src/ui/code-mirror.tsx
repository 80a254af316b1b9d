import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useEffectEvent, useRef } from "react";
import styles from "./code-editor.module.css";
import type { CodeEditorProps } from "./code-editor-props.ts";
import { setupOf, showProblems } from "./code-mirror-setup.ts";

/**
 * Code with colours and problems. It lives in a shadow root, where the policy of the page lets it have styles. Tab indents;
 * Escape and then Tab leaves it.
 */
export default function CodeMirror(props: CodeEditorProps) {
  const { label, value, onValue, language, readOnly = false, size = "small", problems } = props;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const changed = useEffectEvent(onValue);
  useEffect(() => {
    if (!host.current) return;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: value,
        extensions: [
          setupOf(language, label, size),
          EditorState.readOnly.of(readOnly),
          EditorView.updateListener.of((update) => update.docChanged && changed(update.state.doc.toString())),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, [language, label, size, readOnly]);
  // The text was replaced from outside.
  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);
  useEffect(() => {
    if (view.current && problems) showProblems(view.current, problems);
  }, [problems]);
  return (
    <div className={styles.editor}>
      <div ref={host} data-editor={label} />
      {!readOnly && <span className={styles.hint}>Tab indents. Press Esc, then Tab, to leave the editor.</span>}
    </div>
  );
}

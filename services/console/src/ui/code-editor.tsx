import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useEffectEvent, useRef } from "react";
import styles from "./code-editor.module.css";
import { type Language, type Problem, setupOf, showProblems } from "./code-editor-setup.ts";

interface CodeEditorProps {
  label: string;
  value: string;
  onValue: (value: string) => void;
  language: Language;
  readOnly?: boolean;
  /** How far it grows. A small one begins with one line. */
  size?: "small" | "large";
  /** What is wrong in the text, at lines and columns that count from 1. JSON is checked by the editor itself. */
  problems?: readonly Problem[];
}

/**
 * Code with colours and problems. It lives in a shadow root, where the policy of the page lets it have styles. Tab indents;
 * Escape and then Tab leaves it.
 */
export function CodeEditor(props: CodeEditorProps) {
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

import { Annotation, EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useEffectEvent, useLayoutEffect, useRef } from "react";
import { flushSync } from "react-dom";
import type { CodeEditorProps } from "./code-editor-props.ts";
import styles from "./code-mirror.module.css";
import { setupOf, showProblems } from "./code-mirror-setup.ts";

/** The text was replaced by the page, not by the user. */
const fromOutside = Annotation.define<true>();

/**
 * Code with colours and problems. It lives in a shadow root, where the policy of the page lets it have styles. Tab indents;
 * Escape and then Tab leaves it.
 */
export default function CodeMirror(props: CodeEditorProps) {
  const { label, value, onValue, language, readOnly = false, size = "small", problems } = props;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const changed = useEffectEvent(onValue);
  // Before the page is painted: it has the height of the text that stood in for it.
  useLayoutEffect(() => {
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
          EditorView.updateListener.of(({ docChanged, transactions, state }) => {
            if (!docChanged || transactions.some((each) => each.annotation(fromOutside))) return;
            // At once, or a key that is typed meanwhile would be undone by the older value.
            flushSync(() => changed(state.doc.toString()));
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, [language, label, size, readOnly]);
  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === value) return;
    const changes = { from: 0, to: editor.state.doc.length, insert: value };
    editor.dispatch({ changes, annotations: fromOutside.of(true) });
  }, [value]);
  useEffect(() => {
    if (view.current && problems) showProblems(view.current, problems);
  }, [problems]);
  return (
    <div className={styles.editor}>
      <div ref={host} data-editor={label} />
      {!readOnly && <span className={styles.hint}>Esc, then Tab, leaves the editor</span>}
    </div>
  );
}

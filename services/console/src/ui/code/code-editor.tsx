import { lazy, Suspense } from "react";
import styles from "./code-editor.module.css";
import type { CodeEditorProps } from "./code-editor-props.ts";

const CodeMirror = lazy(() => import("./code-mirror.tsx"));

/** Code with colours and problems. Until the editor has loaded, its text alone is shown. */
export function CodeEditor(props: CodeEditorProps) {
  const waiting = <pre className={`${styles.waiting} ${styles[props.size ?? "small"]}`}>{props.value}</pre>;
  return (
    <Suspense fallback={waiting}>
      <CodeMirror {...props} />
    </Suspense>
  );
}

import { lazyRouteComponent } from "@tanstack/react-router";
import { Suspense } from "react";
import styles from "./code-editor.module.css";
import type { CodeEditorProps } from "./code-editor-props.ts";

// After an update of the console its file may be gone: then the page is loaded again.
const CodeMirror = lazyRouteComponent(() => import("./code-mirror.tsx"));

/** Code with colours and problems. Until the editor has loaded, its text alone is shown. */
export function CodeEditor(props: CodeEditorProps) {
  const waiting = <pre className={`${styles.waiting} ${styles[props.size ?? "small"]}`}>{props.value}</pre>;
  return (
    <Suspense fallback={waiting}>
      <CodeMirror {...props} />
    </Suspense>
  );
}

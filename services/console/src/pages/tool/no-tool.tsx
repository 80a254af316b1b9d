import { Link } from "@tanstack/react-router";
import { EDITOR } from "../../text/en/tools/tool-editor.ts";
import styles from "./tool-page.module.css";
import { VersionsOf } from "./versions/versions-of.tsx";

/** A tool that never was, or was deleted: then a version can be restored. */
export function NoTool({ name, onRestored }: { name: string; onRestored: () => void }) {
  return (
    <>
      <div className={styles.missing}>
        <h2>{EDITOR.noTool(name)}</h2>
        <p>{EDITOR.noToolText}</p>
        <Link to="/tools">All tools</Link>
      </div>
      <VersionsOf name={name} current={undefined} onChanged={onRestored} />
    </>
  );
}

import type { JsonObject } from "@bufbuild/protobuf";
import { VERSIONS } from "../../../text/en/tools/tool-editor.ts";
import { ScrollText } from "../../../ui/code/scroll-text.tsx";
import { Hidden } from "../../../ui/hidden.tsx";
import { changedLines } from "./changed-lines.ts";
import { definitionLines } from "./definition-text.ts";
import styles from "./diff.module.css";

const WORDS = { "+": "added", "-": "removed", " ": "", "…": "" } as const;

/** What changes from one definition to another, line by line. */
export function DefinitionDiff({ before, after }: { before: JsonObject; after: JsonObject }) {
  const lines = changedLines(definitionLines(before), definitionLines(after));
  if (lines.length === 0) return <p className={styles.dim}>{VERSIONS.same}</p>;
  return (
    <ScrollText label={VERSIONS.differences} className={styles.diff}>
      {lines.map((line, index) => (
        // Lines have no identity of their own.
        // biome-ignore lint/suspicious/noArrayIndexKey: the list is drawn anew as a whole
        <div key={index} className={styles.line} data-sign={line.sign}>
          {line.sign === "…" ? (
            <span className={styles.dim}>{VERSIONS.unchanged(line.lines)}</span>
          ) : (
            <>
              <span aria-hidden="true">{line.sign === "-" ? "−" : line.sign} </span>
              <Hidden>{WORDS[line.sign]} </Hidden>
              {line.text}
            </>
          )}
        </div>
      ))}
    </ScrollText>
  );
}

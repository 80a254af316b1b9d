import type { JsonObject } from "@bufbuild/protobuf";
import { VERSIONS } from "../../../text/en/tool-editor.ts";
import { ScrollText } from "../../../ui/scroll-text.tsx";
import { definitionLines } from "./definition-text.ts";
import styles from "./diff.module.css";
import { diffLines, nearChanges } from "./line-diff.ts";

const CONTEXT_LINES = 3;
const WORDS = { "+": "added", "-": "removed", " ": "", "…": "" } as const;

/** What changes from one definition to another, line by line. */
export function DefinitionDiff({ before, after }: { before: JsonObject; after: JsonObject }) {
  const lines = diffLines(definitionLines(before), definitionLines(after));
  if (lines.every(({ sign }) => sign === " ")) return <p className={styles.dim}>{VERSIONS.same}</p>;
  return (
    <ScrollText label={VERSIONS.differences} className={styles.diff}>
      {nearChanges(lines, CONTEXT_LINES).map((line, index) => (
        // Lines have no identity of their own.
        // biome-ignore lint/suspicious/noArrayIndexKey: the list is drawn anew as a whole
        <div key={index} className={styles.line} data-sign={line.sign}>
          {line.sign === "…" ? (
            <span className={styles.dim}>{VERSIONS.unchanged(line.lines)}</span>
          ) : (
            <>
              <span aria-hidden="true">{line.sign === "-" ? "−" : line.sign} </span>
              <span className={styles.hidden}>{WORDS[line.sign]} </span>
              {line.text}
            </>
          )}
        </div>
      ))}
    </ScrollText>
  );
}

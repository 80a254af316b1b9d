import type { JsonObject } from "@bufbuild/protobuf";
import { FLAGS, TOOLS } from "../../text/en/tools/tools.ts";
import { Status } from "../../ui/status.tsx";
import { setFlags } from "./flags.ts";
import styles from "./tools.module.css";

/** [BLD-30] [BLD-31] A tool's flags in words; those without effect are marked. */
export function ToolFlags({ definition }: { definition: JsonObject }) {
  const flags = setFlags(definition);
  if (flags.length === 0) return <span className={styles.dim}>{TOOLS.notExposed}</span>;
  return (
    <span className={styles.flags}>
      {flags.map(({ flag, warning }) =>
        warning === undefined ? (
          <span key={flag} className={styles.flag} title={FLAGS[flag]?.meaning}>
            {FLAGS[flag]?.word}
          </span>
        ) : (
          <span key={flag} title={warning}>
            <Status tone="warn" icon="warn">{`${FLAGS[flag]?.word}: no effect`}</Status>
          </span>
        ),
      )}
    </span>
  );
}

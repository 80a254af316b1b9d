import { TOOL_FLAGS } from "../../../routes/tools.ts";
import { EDITOR } from "../../../text/en/tools/tool-editor.ts";
import { FLAGS } from "../../../text/en/tools/tools.ts";
import { Checkbox } from "../../../ui/form/input.tsx";
import { Status } from "../../../ui/status.tsx";
import styles from "../../definition/definition.module.css";
import type { Draft } from "../../definition/use-draft.ts";
import { setFlags } from "../../tools/flags.ts";

/** [EXPO-1] Who may call the tool, and what it may then do. Saving asks before a guarded flag is set. */
export function FlagsField({ draft, readOnly }: { draft: Draft; readOnly: boolean }) {
  const { definition, set } = draft;
  const warnings = new Map(setFlags(definition).map(({ flag, warning }) => [flag, warning]));
  return (
    <fieldset disabled={readOnly} className={styles.flags}>
      <legend>{EDITOR.flags}</legend>
      {warnings.size === 0 && <p className={styles.dim}>{EDITOR.closed}</p>}
      {TOOL_FLAGS.map((flag) => {
        const { label, meaning } = FLAGS[flag] ?? {};
        const warning = warnings.get(flag);
        const isOn = flag === "async" ? Boolean(definition[flag]) : definition[flag] === true;
        return (
          <div key={flag}>
            <Checkbox
              label={label}
              aria-describedby={`${flag}-meaning`}
              checked={isOn}
              onChange={({ target }) => set(flag, target.checked ? true : undefined)}
            />
            <p id={`${flag}-meaning`} className={styles.meaning}>
              {meaning}
              {warning !== undefined && (
                <>
                  <br />
                  <Status tone="warn" icon="warn">
                    {warning}
                  </Status>
                </>
              )}
            </p>
          </div>
        );
      })}
    </fieldset>
  );
}

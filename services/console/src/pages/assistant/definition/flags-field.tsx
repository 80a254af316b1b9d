import { ASSISTANT_EDITOR, ASSISTANT_FLAGS } from "../../../text/en/assistants/assistants.ts";
import { Checkbox } from "../../../ui/form/input.tsx";
import { Status } from "../../../ui/status.tsx";
import styles from "../../definition/definition.module.css";
import type { Draft } from "../../definition/use-draft.ts";

const FLAGS = ["inbound_hook", "inbound_hook_write"] as const;

/** [EXPO-1] Whether hooks may run it, and what its tools may then do. Saving asks before one is set. */
export function FlagsField({ draft: { definition, set }, readOnly }: { draft: Draft; readOnly: boolean }) {
  const hasNoEffect = definition.inbound_hook_write === true && definition.inbound_hook !== true;
  return (
    <fieldset disabled={readOnly} className={styles.flags}>
      <legend>{ASSISTANT_EDITOR.flags}</legend>
      {FLAGS.map((flag) => (
        <div key={flag}>
          <Checkbox
            label={ASSISTANT_FLAGS[flag].label}
            aria-describedby={`${flag}-meaning`}
            checked={definition[flag] === true}
            onChange={({ target }) => set(flag, target.checked ? true : undefined)}
          />
          <p id={`${flag}-meaning`} className={styles.meaning}>
            {ASSISTANT_FLAGS[flag].meaning}
          </p>
        </div>
      ))}
      {hasNoEffect && (
        <Status tone="warn" icon="warn">
          {ASSISTANT_EDITOR.writesWithoutHook}
        </Status>
      )}
    </fieldset>
  );
}

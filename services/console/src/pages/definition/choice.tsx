import { EDITOR } from "../../text/en/tools/tool-editor.ts";
import { Button } from "../../ui/button.tsx";
import styles from "./definition.module.css";

export type View = "form" | "json";

interface ViewChoiceProps {
  label: string;
  view: View;
  onView: (view: View) => void;
  /** Why the other view cannot be shown now. */
  locked?: string | undefined;
}

/** Form or JSON. */
export function ViewChoice({ label, view, onView, locked }: ViewChoiceProps) {
  return (
    <span role="group" aria-label={label} className={styles.choice} title={locked}>
      {(["form", "json"] as const).map((each) => (
        <Button
          key={each}
          aria-pressed={each === view}
          disabled={locked !== undefined && each !== view}
          onClick={() => onView(each)}
        >
          {EDITOR[each]}
        </Button>
      ))}
    </span>
  );
}

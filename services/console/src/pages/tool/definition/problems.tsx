import { EDITOR } from "../../../text/en/tool-editor.ts";
import { Part } from "../../../ui/part.tsx";
import { Status } from "../../../ui/status.tsx";
import styles from "./definition.module.css";
import type { Check } from "./use-check.ts";

interface ProblemsProps {
  check: Check | undefined;
  broken: Readonly<Record<string, string>>;
}

/** Everything for which a save would be refused. */
export function Problems({ check, broken }: ProblemsProps) {
  const texts = [
    ...Object.entries(broken).map(([part, message]) => [part, message] as const),
    ...(check?.violations ?? []).map(({ path, message, line, column }) => {
      const place = line > 0 ? `${path}, ${EDITOR.line(line, column)}` : path;
      return [place, message] as const;
    }),
  ];
  return (
    <Part title={EDITOR.problems}>
      <div aria-live="polite">
        {texts.length > 0 && (
          <ul className={styles.problems}>
            {texts.map(([place, message]) => (
              <li key={`${place} ${message}`}>
                <Status tone="bad">{place || EDITOR.definition}</Status>
                <p>{message}</p>
              </li>
            ))}
          </ul>
        )}
        {texts.length === 0 && !check && <p className={styles.dim}>{EDITOR.checking}</p>}
        {texts.length === 0 && check && <Status tone="good">{EDITOR.noProblems}</Status>}
      </div>
    </Part>
  );
}

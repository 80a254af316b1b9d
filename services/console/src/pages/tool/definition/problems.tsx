import { EDITOR } from "../../../text/en/tools/tool-editor.ts";
import { Part } from "../../../ui/page/part.tsx";
import { Status } from "../../../ui/status.tsx";
import styles from "./tool-definition.module.css";
import type { Check } from "./use-check.ts";

/** Members that the form calls by another name. */
const NAMED = [
  "external_api_description",
  "external_api_response",
  "args_fixture",
  "timeout_ms",
  "max_result_bytes",
] as const;

interface ProblemsProps {
  check: Check | undefined;
  broken: Readonly<Record<string, string>>;
}

/** Everything for which a save would be refused. */
export function Problems({ check, broken }: ProblemsProps) {
  const texts = [
    ...Object.entries(broken).map(([part, message]) => [placeOf(part), message] as const),
    ...(check?.violations ?? []).map(({ path, message, line, column }) => {
      const place = placeOf(path);
      return [line > 0 ? `${place}, ${EDITOR.line(line, column)}` : place, message] as const;
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

function placeOf(path: string): string {
  const member = NAMED.find((name) => path === name || path.startsWith(`${name}.`));
  return member ? `${EDITOR[member]}: ${path}` : path;
}

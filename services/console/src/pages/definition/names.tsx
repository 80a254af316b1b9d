import { EXPOSURE } from "../../text/en/tools/tool-editor.ts";
import styles from "./exposure.module.css";

const SHOWN = 20;

/** The first names of a list, and how many more there are. */
export function Names({ names }: { names: readonly string[] }) {
  if (names.length === 0) return null;
  const more = names.length - SHOWN;
  return (
    <ul className={styles.names}>
      {names.slice(0, SHOWN).map((name, index) => (
        // Two keys may have the same name.
        // biome-ignore lint/suspicious/noArrayIndexKey: names do not move
        <li key={index}>{name}</li>
      ))}
      {more > 0 && <li>{EXPOSURE.andOthers(more)}</li>}
    </ul>
  );
}

import { CopyButton } from "../../ui/copy.tsx";
import styles from "./events.module.css";

interface CodeTextProps {
  title: string;
  /** What the text belongs to, for readers of the screen. */
  of: string;
  text: string;
  hint?: string;
}

/** A text to read and copy, such as JSON. */
export function CodeText({ title, of, text, hint }: CodeTextProps) {
  return (
    <section className={styles.code}>
      <header>
        <h3>{title}</h3>
        <CopyButton text={text} />
      </header>
      {hint && <p className={styles.dim}>{hint}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
      <pre tabIndex={0} role="region" aria-label={`${title} of ${of}`}>
        {text}
      </pre>
    </section>
  );
}

import styles from "./code-block.module.css";
import { CopyButton } from "./copy.tsx";

/** Text to copy: code, a command, a body. Long lines scroll. */
export function CodeBlock({ label, text }: { label: string; text: string }) {
  return (
    <div className={styles.block}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be within reach of the keyboard */}
      <pre role="group" aria-label={label} tabIndex={0}>
        {text.trimEnd()}
      </pre>
      <div className={styles.copy}>
        <CopyButton text={text} />
      </div>
    </div>
  );
}

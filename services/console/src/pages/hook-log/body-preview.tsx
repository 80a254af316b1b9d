import { HOOK_LOG } from "../../text/en/hook-log.ts";
import { Button } from "../../ui/button.tsx";
import { indentJson } from "../../ui/indent-json.ts";
import styles from "./hook-log.module.css";

/** More text makes the page slow; the rest is in the download. */
const SHOWN_CHARACTERS = 100_000;

interface BodyPreviewProps {
  label: string;
  text: string;
  /** Offers the whole text under this name. */
  fileName?: string;
}

/** What somebody else sent: always as text. */
export function BodyPreview({ label, text, fileName }: BodyPreviewProps) {
  const whole = indentJson(text);
  const isCut = whole.length > SHOWN_CHARACTERS;
  const download = () => {
    const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    Object.assign(document.createElement("a"), { href: url, download: fileName }).click();
    URL.revokeObjectURL(url);
  };
  if (text === "") return <p className={styles.dim}>{HOOK_LOG.nothing}</p>;
  return (
    <div className={styles.preview}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so that the keyboard must reach it */}
      <pre role="region" aria-label={label} tabIndex={0} className={styles.text}>
        {isCut ? whole.slice(0, SHOWN_CHARACTERS) : whole}
      </pre>
      {isCut && <p className={styles.dim}>{HOOK_LOG.cut}</p>}
      {fileName && (
        <div>
          <Button onClick={download}>{HOOK_LOG.download}</Button>
        </div>
      )}
    </div>
  );
}

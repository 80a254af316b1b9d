import { useState } from "react";
import styles from "./body-view.module.css";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy.tsx";

const PREVIEW_BYTES = 100_000;

interface BodyViewProps {
  /** What it is, for readers that do not see where it stands. */
  label: string;
  body: Uint8Array;
  fileName: string;
  /** JSON has line breaks from the start, because nobody compares its bytes. */
  formatted?: boolean;
}

/** Bytes that came from outside, as text and never as HTML. Of more than 100 kB only the beginning is shown. */
export function BodyView({ label, body, fileName, formatted: isFormattedFirst = false }: BodyViewProps) {
  const [isFormatted, setFormatted] = useState(isFormattedFirst);
  const isCut = body.length > PREVIEW_BYTES;
  const text = new TextDecoder().decode(isCut ? body.subarray(0, PREVIEW_BYTES) : body);
  const formatted = isCut ? undefined : formattedJson(text);
  return (
    <div className={styles.whole}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre className={styles.text} tabIndex={0} role="region" aria-label={label}>
        {isFormatted && formatted !== undefined ? formatted : text}
      </pre>
      <div className={styles.actions}>
        <span>
          {body.length.toLocaleString("en")} bytes
          {isCut && `; the first ${PREVIEW_BYTES.toLocaleString("en")} are shown`}
        </span>
        {formatted !== undefined && formatted !== text && (
          <Button aria-pressed={isFormatted} onClick={() => setFormatted(!isFormatted)}>
            Format
          </Button>
        )}
        {!isCut && <CopyButton text={text} />}
        <Button onClick={() => download(body, fileName)}>Download</Button>
      </div>
    </div>
  );
}

function formattedJson(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return undefined;
  }
}

/** As a file of no particular type, so that no browser opens it as a page. */
function download(body: Uint8Array, fileName: string): void {
  const url = URL.createObjectURL(new Blob([new Uint8Array(body)], { type: "application/octet-stream" }));
  Object.assign(document.createElement("a"), { href: url, download: fileName }).click();
  URL.revokeObjectURL(url);
}

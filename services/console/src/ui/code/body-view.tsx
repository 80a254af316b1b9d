import { useState } from "react";
import { Button } from "../button.tsx";
import { download } from "../download.ts";
import styles from "./body-view.module.css";
import { CopyButton } from "./copy.tsx";
import { indentJson } from "./indent-json.ts";
import { ScrollText } from "./scroll-text.tsx";

const PREVIEW_BYTES = 100_000;

interface BodyViewProps {
  /** What it is, for readers that do not see where it stands. */
  label: string;
  body: Uint8Array | string;
  /** Offers to copy it, and to download it under this name. */
  fileName?: string;
  /** JSON is indented at first, where its exact bytes do not matter. */
  formatted?: boolean;
}

/** What came from outside, as text and never as HTML. Of more than 100 kB only the beginning is shown. */
export function BodyView({ label, body, fileName, formatted: isFormattedFirst = false }: BodyViewProps) {
  const [isFormatted, setFormatted] = useState(isFormattedFirst);
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const isCut = bytes.length > PREVIEW_BYTES;
  const text = new TextDecoder().decode(isCut ? bytes.subarray(0, PREVIEW_BYTES) : bytes);
  const formatted = isCut ? text : indentJson(text);
  return (
    <div className={styles.whole}>
      <ScrollText label={label} className={styles.text}>
        {isFormatted ? formatted : text}
      </ScrollText>
      {(fileName || isCut) && (
        <div className={styles.actions}>
          <span>
            {bytes.length.toLocaleString("en")} bytes
            {isCut && `; the first ${PREVIEW_BYTES.toLocaleString("en")} are shown`}
          </span>
          {formatted !== text && (
            <Button aria-pressed={isFormatted} onClick={() => setFormatted(!isFormatted)}>
              Format
            </Button>
          )}
          {!isCut && <CopyButton text={text} />}
          {fileName && <Button onClick={() => download(fileName, new Uint8Array(bytes))}>Download</Button>}
        </div>
      )}
    </div>
  );
}

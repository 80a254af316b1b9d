import { useMemo } from "react";
import { notKept, RUNS } from "../../text/en/runs.ts";
import { Button } from "../../ui/button.tsx";
import styles from "./runs.module.css";

const PREVIEW_CHARACTERS = 100_000;

interface JsonTextProps {
  label: string;
  json: string;
  fileName: string;
}

/** JSON as text, with line breaks. Of more than 100 kB only the beginning is drawn, and the whole can be downloaded. */
export function JsonText({ label, json, fileName }: JsonTextProps) {
  const { text, omitted } = useMemo(() => readable(json), [json]);
  if (omitted !== undefined) return <p className={styles.dim}>{notKept(omitted)}</p>;
  const isCut = text.length > PREVIEW_CHARACTERS;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre className={styles.text} tabIndex={0} role="region" aria-label={label}>
        {isCut ? text.slice(0, PREVIEW_CHARACTERS) : text}
      </pre>
      {isCut && (
        <div className={styles.more}>
          <span>
            {RUNS.preview} {text.length.toLocaleString("en")} characters in all.
          </span>
          <Button onClick={() => download(json, fileName)}>{RUNS.download}</Button>
        </div>
      )}
    </>
  );
}

/** `omitted`: how long a value was that the log did not keep. */
function readable(json: string): { text: string; omitted?: number } {
  try {
    const value: unknown = JSON.parse(json);
    if (isOmitted(value)) return { text: "", omitted: value.characters };
    return { text: JSON.stringify(value, undefined, 2) };
  } catch {
    return { text: json };
  }
}

function isOmitted(value: unknown): value is { characters: number } {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.keys(value).length === 2 &&
    "truncated" in value &&
    "characters" in value &&
    typeof value.characters === "number"
  );
}

/** As a file of no particular type, so that no browser opens it as a page. */
function download(text: string, fileName: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/octet-stream" }));
  Object.assign(document.createElement("a"), { href: url, download: fileName }).click();
  URL.revokeObjectURL(url);
}

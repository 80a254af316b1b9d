import { useMemo } from "react";
import { notKept } from "../../text/en/tools/runs.ts";
import { BodyView } from "../../ui/code/body-view.tsx";
import styles from "./runs.module.css";

interface LoggedValueProps {
  label: string;
  json: string;
  fileName: string;
}

/** What a run was given or returned, as far as the log keeps it. */
export function LoggedValue({ label, json, fileName }: LoggedValueProps) {
  const body = useMemo(() => new TextEncoder().encode(json), [json]);
  const omitted = omittedCharacters(json);
  if (omitted !== undefined) return <p className={styles.dim}>{notKept(omitted)}</p>;
  return <BodyView label={label} body={body} fileName={fileName} formatted />;
}

/** How long a value was that the log did not keep: it has `{"truncated": true, "characters": 70000}` in its place. */
function omittedCharacters(json: string): number | undefined {
  if (!json.startsWith("{") || json.length > 100) return undefined;
  const { truncated, characters, ...rest } = JSON.parse(json);
  const isOmitted = truncated === true && typeof characters === "number" && Object.keys(rest).length === 0;
  return isOmitted ? characters : undefined;
}

import { useEffect, useRef } from "react";
import { API_TAB, limitText } from "../../../text/en/tools/api-tab.ts";
import { CodeBlock } from "../../../ui/code/code-block.tsx";
import { indentJson } from "../../../ui/code/indent-json.ts";
import { Part } from "../../../ui/page/part.tsx";
import { Status } from "../../../ui/status.tsx";
import styles from "./api-tab.module.css";
import { HeaderTable } from "./header-table.tsx";
import type { TriedCall } from "./try-call.ts";

/** [BLD-36] [BLD-37] */
export function TriedResponse({ tried }: { tried: TriedCall }) {
  const { status, durationMs, headers, body, isCut } = tried;
  const values = new Map(headers);
  const [remaining, limit] = [values.get("X-RateLimit-Remaining"), values.get("X-RateLimit-Limit")];
  const whole = useRef<HTMLDivElement>(null);
  // On a phone it comes under the form.
  useEffect(() => {
    whole.current?.scrollIntoView({ block: "nearest" });
  }, []);
  return (
    <div ref={whole}>
      <Part title={API_TAB.tried}>
        <p className={styles.line} role="status">
          <Status tone={status < 300 ? "good" : status < 500 ? "warn" : "bad"} icon={status < 300 ? "ok" : "bad"}>
            {String(status)}
          </Status>
          <span>after {durationMs} ms</span>
        </p>
        {remaining !== undefined && limit !== undefined && <p className={styles.dim}>{limitText(remaining, limit)}</p>}
        <CodeBlock label={API_TAB.body} text={indentJson(body)} />
        {isCut && <p className={styles.dim}>{API_TAB.cut}</p>}
        <HeaderTable
          value="Value"
          headers={headers.map(([name, value]) => [name, <code key={name}>{value}</code>] as const)}
        />
      </Part>
    </div>
  );
}

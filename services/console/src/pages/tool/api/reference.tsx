import type { DescribedTool } from "@toolgate/api-examples/described-tool";
import { descriptionUrl, exampleResult } from "@toolgate/api-examples/example-call";
import { LIMIT_HEADERS, OUTCOMES, RETRY_AFTER } from "@toolgate/api-examples/responses";
import { curlForDescription } from "@toolgate/api-examples/snippets/curl";
import { API_TAB, CHECKLIST } from "../../../text/en/tools/api-tab.ts";
import { CodeBlock } from "../../../ui/code/code-block.tsx";
import { Part } from "../../../ui/page/part.tsx";
import { Table } from "../../../ui/page/table.tsx";
import styles from "./api-tab.module.css";
import { HeaderTable } from "./header-table.tsx";

/** [BLD-24] [BLD-25] [BLD-27] */
export function Responses({ described, about }: { described: DescribedTool; about: string }) {
  const statuses = OUTCOMES.map(({ status, error, about }) => ({
    key: `${status} ${error}`,
    cells: [status, <Outcome key="about" about={about} error={error} />],
  }));
  return (
    <div className={styles.row}>
      <Part title={API_TAB.statuses}>
        <Table columns={["Status", "Meaning"]} rows={statuses} />
      </Part>
      <div className={styles.column}>
        <Part title={API_TAB.response}>
          <p className={styles.dim}>{about}</p>
          <CodeBlock label={API_TAB.response} text={JSON.stringify(exampleResult(described), null, 2)} />
        </Part>
        <LimitHeaders />
        <OpenApi />
      </div>
    </div>
  );
}

function Outcome({ about, error }: { about: string; error: string | undefined }) {
  return (
    <>
      {about}
      {error && (
        <p>
          <code>{error}</code>
        </p>
      )}
    </>
  );
}

function LimitHeaders() {
  const headers = [...Object.entries(LIMIT_HEADERS), ["Retry-After", `${RETRY_AFTER} ${API_TAB.only429}`] as const];
  return (
    <Part title={API_TAB.limit}>
      <p className={styles.dim}>{API_TAB.limitText}</p>
      <HeaderTable value="Meaning" headers={headers} />
    </Part>
  );
}

/** [BLD-21] [BLD-22] */
function OpenApi() {
  const url = descriptionUrl(location.origin);
  return (
    <Part title={API_TAB.openapi}>
      <p className={styles.dim}>{API_TAB.openapiText}</p>
      <p>
        <a href={url} target="_blank" rel="noreferrer">
          {url}
        </a>
      </p>
      <CodeBlock label={API_TAB.openapiCurl} text={curlForDescription(location.origin)} />
    </Part>
  );
}

/** [BLD-26] */
export function Checklist() {
  return (
    <Part title={API_TAB.checklist}>
      <ul className={styles.checklist}>
        {CHECKLIST.map((item) => (
          <li key={item}>{item}</li>
        ))}
      </ul>
    </Part>
  );
}

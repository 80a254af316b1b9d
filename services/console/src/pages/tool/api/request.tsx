import { Tabs } from "@base-ui/react/tabs";
import { collection } from "@toolgate/api-examples/collection";
import type { CallableTool, DescribedTool } from "@toolgate/api-examples/described-tool";
import { type ExampleCall, exampleResult, KEY_PLACEHOLDER } from "@toolgate/api-examples/example-call";
import { argumentsInWords } from "@toolgate/api-examples/schema-words";
import { SNIPPETS } from "@toolgate/api-examples/snippets/snippets";
import { API_TAB } from "../../../text/en/tools/api-tab.ts";
import { Button } from "../../../ui/button.tsx";
import { CodeBlock } from "../../../ui/code/code-block.tsx";
import { CopyButton } from "../../../ui/code/copy.tsx";
import { download } from "../../../ui/download.ts";
import { Facts } from "../../../ui/page/panel.tsx";
import { Part } from "../../../ui/page/part.tsx";
import { Table } from "../../../ui/page/table.tsx";
import { Status } from "../../../ui/status.tsx";
import styles from "./api-tab.module.css";

interface RequestProps {
  /** What a call may change. */
  effect: Pick<CallableTool, "readOnly" | "mayWrite">;
  described: DescribedTool;
  call: ExampleCall;
  /** Where the example comes from. */
  source: string;
}

export function Request({ effect, described, call, source }: RequestProps) {
  return (
    <div className={styles.row}>
      <div className={styles.column}>
        <Endpoint effect={effect} described={described} call={call} />
        <Arguments described={described} />
      </div>
      <div className={styles.column}>
        <Part title={API_TAB.request}>
          <p className={styles.dim}>{source}</p>
          <CodeBlock label={API_TAB.request} text={JSON.stringify({ args: call.args }, null, 2)} />
        </Part>
        <Snippets described={described} call={call} />
      </div>
    </div>
  );
}

/** [BLD-2] [BLD-3] [BLD-23] */
function Endpoint({ effect, described, call }: Omit<RequestProps, "source">) {
  const tone = effect.mayWrite ? "warn" : effect.readOnly ? "good" : "dim";
  const icon = effect.mayWrite ? "warn" : effect.readOnly ? "ok" : "info";
  const facts = [
    [API_TAB.authorization, <code key="key">Authorization: Bearer {KEY_PLACEHOLDER}</code>],
    [API_TAB.contentType, <code key="type">Content-Type: application/json</code>],
    [
      API_TAB.effect,
      <span key="effect" className={styles.effect}>
        <Status tone={tone} icon={icon}>
          {described.effect}
        </Status>
      </span>,
    ],
  ] as const;
  return (
    <Part title={API_TAB.endpoint}>
      {described.description !== "" && <p>{described.description}</p>}
      <div className={styles.line}>
        <code>POST {call.url}</code>
        <CopyButton text={call.url} label={API_TAB.copyUrl} />
      </div>
      <Facts facts={facts} />
    </Part>
  );
}

function Arguments({ described }: Pick<RequestProps, "described">) {
  const rows = argumentsInWords(described.args).map(({ name, type, isRequired, about }) => ({
    key: name,
    cells: [
      <div key="name" className={styles.argument}>
        <code>{name}</code>
        {isRequired && <span className={styles.required}>{API_TAB.required}</span>}
      </div>,
      <div key="value">
        {type}
        {about !== "" && <p>{about}</p>}
      </div>,
    ],
  }));
  return (
    <Part title={API_TAB.arguments}>
      <p className={styles.dim}>{rows.length === 0 ? API_TAB.noArguments : API_TAB.argumentsText}</p>
      {rows.length > 0 && <Table columns={["Name", "Value"]} rows={rows} />}
    </Part>
  );
}

/** [BLD-8] to [BLD-14] */
function Snippets({ described, call }: Pick<RequestProps, "described" | "call">) {
  const save = () => {
    const made = collection(call, { description: described.description, result: exampleResult(described) });
    download(`${call.tool}.postman_collection.json`, JSON.stringify(made, null, 2), "application/json");
  };
  return (
    <Part title={API_TAB.code}>
      <p className={styles.dim}>{API_TAB.codeText}</p>
      <Tabs.Root defaultValue={SNIPPETS[0]?.id} className={styles.snippets}>
        <Tabs.List activateOnFocus aria-label={API_TAB.languages} className={styles.tabs}>
          {SNIPPETS.map(({ id, label }) => (
            <Tabs.Tab key={id} value={id}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {SNIPPETS.map(({ id, label, write }) => (
          <Tabs.Panel key={id} value={id} tabIndex={-1}>
            <CodeBlock label={label} text={write(call)} />
          </Tabs.Panel>
        ))}
      </Tabs.Root>
      <div className={styles.line}>
        <Button onClick={save}>{API_TAB.collection}</Button>
        <span className={styles.dim}>{API_TAB.collectionText}</span>
      </div>
    </Part>
  );
}

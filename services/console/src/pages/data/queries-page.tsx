import { useMutation } from "@connectrpc/connect-query";
import { DataSourceService, type PreparedQuery, QueryMode } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { useWorkspace } from "../../rpc/use-session.ts";
import { DATA, QUERIES } from "../../text/en/tools/data.ts";
import { CodeBlock } from "../../ui/code/code-block.tsx";
import type { Column } from "../../ui/list/resource-list.tsx";
import { useList } from "../../ui/list/use-list.ts";
import { Facts } from "../../ui/page/panel.tsx";
import { DataSourceState } from "./data-source.tsx";
import { NamedPage, type NamedProps } from "./named-page.tsx";
import { NamedPanel } from "./named-panel.tsx";
import { SaveQuery } from "./save-query.tsx";

const modeOf = ({ mode }: PreparedQuery) => (mode === QueryMode.WRITE ? QUERIES.write : QUERIES.read);

const COLUMNS: readonly Column<PreparedQuery>[] = [
  { header: QUERIES.mode, width: "100px", render: modeOf },
  { header: QUERIES.sql, width: "minmax(160px, 4fr)", render: ({ sql }) => <code>{sql}</code> },
];

export function QueriesPage() {
  const workspace = useWorkspace();
  const list = useList(
    DataSourceService.method.listPreparedQueries,
    { workspace },
    { rowsOf: (page) => page.queries, keyOf: ({ name }) => name },
  );
  return (
    <NamedPage
      text={QUERIES}
      list={list}
      columns={COLUMNS}
      create={(dialog) => <SaveQuery {...dialog} />}
      panel={(query, panel) => <QueryPanel key={query.name} of={query} {...panel} />}
    >
      <DataSourceState />
    </NamedPage>
  );
}

function QueryPanel({ of, ...panel }: { of: PreparedQuery } & NamedProps) {
  const workspace = useWorkspace();
  const { mutateAsync } = useMutation(DataSourceService.method.deletePreparedQuery);
  return (
    <NamedPanel
      name={of.name}
      edit={{ label: DATA.edit, dialog: (dialog) => <SaveQuery of={of} {...dialog} /> }}
      remove={{ text: QUERIES.deleteText, call: () => mutateAsync({ workspace, name: of.name }) }}
      {...panel}
    >
      <Facts facts={[[QUERIES.mode, modeOf(of)]]} />
      <CodeBlock label={QUERIES.sql} text={of.sql} />
    </NamedPanel>
  );
}

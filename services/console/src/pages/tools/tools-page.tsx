import { getRouteApi } from "@tanstack/react-router";
import { ExecutionService } from "@toolgate/gen/toolgate/tool_runner/v1/execution_pb";
import { type Tool, ToolKind, ToolOrder, ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { useState } from "react";
import { TOOL_FLAGS } from "../../routes/tools.ts";
import { useCanManage, useWorkspace } from "../../rpc/use-session.ts";
import { FLAGS, KINDS, runsOf, TOOLS } from "../../text/en/tools/tools.ts";
import { Button } from "../../ui/button.tsx";
import { Select } from "../../ui/form/input.tsx";
import { type Column, ResourceList } from "../../ui/list/resource-list.tsx";
import { SearchField } from "../../ui/list/search-field.tsx";
import { hourlyColumn, useHourlyCounts } from "../../ui/list/use-hourly-counts.tsx";
import { useList } from "../../ui/list/use-list.ts";
import { useSetSearch } from "../../ui/list/use-set-search.ts";
import { Page } from "../../ui/page/page.tsx";
import { useShortcut } from "../../ui/shortcuts.ts";
import { Time } from "../../ui/time.tsx";
import { CreateTool } from "./create-tool.tsx";
import { ToolFlags } from "./tool-flags.tsx";

const route = getRouteApi("/shell/tools");

const KIND_NAMES: Readonly<Record<number, string>> = {
  [ToolKind.HANDLER]: KINDS.handler,
  [ToolKind.API]: KINDS.api,
  [ToolKind.QUERY]: KINDS.query,
};
/** By `ExecutionService.GetHourlyCounts`. */
const RUNS_COUNTED_PER_HOUR = 500;
const BY_KIND = { handler: ToolKind.HANDLER, api: ToolKind.API, query: ToolKind.QUERY } as const;
const KIND_OPTIONS = [["", TOOLS.anyKind], ...Object.entries(KINDS)] as const;
const FLAG_OPTIONS = [
  ["", TOOLS.anyFlag],
  ...TOOL_FLAGS.map((flag) => [flag, FLAGS[flag]?.label ?? flag] as const),
] as const;
const ORDER_OPTIONS = [
  ["", TOOLS.byName],
  ["saved", TOOLS.bySaved],
] as const;

const COLUMNS: readonly Column<Tool>[] = [
  { header: "Kind", width: "90px", render: ({ kind }) => KIND_NAMES[kind] ?? "" },
  {
    header: "Flags",
    width: "minmax(160px, 3fr)",
    render: ({ definition = {} }) => <ToolFlags definition={definition} />,
  },
  { header: "Version", width: "64px", align: "end", render: ({ version }) => version },
  { header: "Saved", width: "100px", render: ({ savedAt }) => <Time at={savedAt} /> },
  { header: "By", width: "minmax(100px, 1fr)", render: ({ savedBy }) => <span title={savedBy}>{savedBy}</span> },
];

export function ToolsPage() {
  const workspace = useWorkspace();
  const canManage = useCanManage();
  const { at, search, kind, flag, order } = route.useSearch();
  const navigate = route.useNavigate();
  const [isCreating, setCreating] = useState(false);
  const set = useSetSearch();
  const list = useList(
    ToolService.method.listTools,
    {
      workspace,
      summary: true,
      search: search ?? "",
      kind: kind && BY_KIND[kind],
      flag: flag ?? "",
      order: order && ToolOrder.SAVED,
    },
    { rowsOf: (page) => page.tools, keyOf: ({ name }) => name },
  );
  // Members may not read the log of runs.
  const logged = canManage ? list.rows.map(({ name }) => name) : [];
  const hours = useHourlyCounts(ExecutionService.method.getHourlyCounts, logged);
  const bars = hourlyColumn<Tool>(hours, TOOLS.hours, {
    idOf: ({ name }) => name,
    labelOf: ({ name }) => runsOf(name),
    maxCount: RUNS_COUNTED_PER_HOUR,
  });
  useShortcut("c", () => canManage && setCreating(true));
  const create = canManage && (
    <Button kind="primary" onClick={() => setCreating(true)}>
      {TOOLS.create}
    </Button>
  );
  const choose = (name: string) => (value: string) => set({ [name]: value || undefined, at: undefined });
  return (
    <Page
      title={TOOLS.title}
      actions={create}
      toolbar={
        <>
          <SearchField label={TOOLS.search} value={search} onValue={(text) => set({ search: text, at: undefined })} />
          <Select aria-label="Kind" options={KIND_OPTIONS} value={kind ?? ""} onValue={choose("kind")} />
          <Select aria-label="Flag" options={FLAG_OPTIONS} value={flag ?? ""} onValue={choose("flag")} />
          <Select aria-label="Order" options={ORDER_OPTIONS} value={order ?? ""} onValue={choose("order")} />
        </>
      }
    >
      <ResourceList
        label={TOOLS.title}
        list={list}
        columns={canManage ? [...COLUMNS, bars] : COLUMNS}
        nameOf={({ name }) => name}
        open={undefined}
        onOpen={(name) => name !== undefined && void navigate({ to: "/tools/$name", params: { name }, search: {} })}
        empty={{ title: TOOLS.empty, text: TOOLS.emptyText, action: create }}
        isFiltered={Boolean(search || kind || flag)}
        onClearFilters={() => set({ search: undefined, kind: undefined, flag: undefined })}
        at={at}
        onAt={(first) => set({ at: first })}
      />
      {isCreating && <CreateTool onClose={() => setCreating(false)} />}
    </Page>
  );
}

import { useQuery } from "@connectrpc/connect-query";
import { getRouteApi } from "@tanstack/react-router";
import { KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { ExecutionService, Success } from "@toolgate/gen/toolgate/tool_runner/v1/execution_pb";
import { useMemo } from "react";
import { useWorkspace } from "../../rpc/use-session.ts";
import { RUNS } from "../../text/en/tools/runs.ts";
import { ResourceList } from "../../ui/list/resource-list.tsx";
import { timestampOf } from "../../ui/list/time-range.tsx";
import { useList } from "../../ui/list/use-list.ts";
import { useSetSearch } from "../../ui/list/use-set-search.ts";
import { Page } from "../../ui/page/page.tsx";
import { type KeyNames, runColumns } from "./run-columns.tsx";
import { RunFilters } from "./run-filters.tsx";
import { RunPanel } from "./run-panel.tsx";

const route = getRouteApi("/shell/managed/runs");

const OUTCOMES = { succeeded: Success.ONLY, failed: Success.FAILURES_ONLY } as const;
const KEYS_NAMED = 100;
const KEYS_FRESH_MS = 60_000;
const FILTERS = ["tool", "entry", "outcome", "caller", "request", "from", "to"] as const;

/** [LOG-10] The execution log. */
export function RunsPage() {
  const workspace = useWorkspace();
  const keys = useKeyNames();
  const { open, at, ...filter } = route.useSearch();
  const set = useSetSearch();
  const list = useList(
    ExecutionService.method.listExecutions,
    {
      workspace,
      tool: filter.tool ?? "",
      entryType: filter.entry ?? "",
      success: filter.outcome && OUTCOMES[filter.outcome],
      callerId: filter.caller ?? "",
      requestId: filter.request ?? "",
      startedFrom: timestampOf(filter.from),
      startedBefore: timestampOf(filter.to),
    },
    { rowsOf: (page) => page.executions, keyOf: (run) => run.id, isHeld: open !== undefined },
  );
  const columns = useMemo(() => runColumns(keys), [keys]);
  return (
    <Page
      title={RUNS.title}
      toolbar={<RunFilters filter={filter} keys={keys} onFilter={(change) => set({ ...change, at: undefined })} />}
      panel={open && <RunPanel key={open} runId={open} keys={keys} onClose={() => set({ open: undefined })} />}
    >
      <ResourceList
        label={RUNS.title}
        nameHeader={RUNS.tool}
        list={list}
        columns={columns}
        nameOf={({ tool }) => tool}
        open={open}
        onOpen={(id) => set({ open: id })}
        empty={{ title: RUNS.empty, text: RUNS.emptyText }}
        isFiltered={FILTERS.some((name) => filter[name] !== undefined)}
        onClearFilters={() => set(Object.fromEntries([...FILTERS, "at"].map((name) => [name, undefined])))}
        at={at}
        onAt={(first) => set({ at: first })}
      />
    </Page>
  );
}

/** Of the newest keys, by one call: a run by an older one shows the beginning of the key's id. */
function useKeyNames(): KeyNames {
  const workspace = useWorkspace();
  const { data } = useQuery(
    KeyService.method.listKeys,
    { workspace, pageSize: KEYS_NAMED },
    { staleTime: KEYS_FRESH_MS },
  );
  return useMemo(() => new Map(data?.keys.map(({ id, name }) => [id, name])), [data]);
}

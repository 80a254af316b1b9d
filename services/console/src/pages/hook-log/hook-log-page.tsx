import { getRouteApi } from "@tanstack/react-router";
import { HOOK_LOG } from "../../text/en/webhooks/hook-log.ts";
import { useSetSearch } from "../../ui/list/use-set-search.ts";
import { Page } from "../../ui/page/page.tsx";
import { AcceptedCalls, RefusedCalls } from "./call-lists.tsx";
import { CallPanel } from "./call-panel.tsx";
import { HookLogFilters } from "./hook-log-filters.tsx";
import { RefusedPanel } from "./refused-panel.tsx";
import { type Filters, useAcceptedCalls, useRefusedCalls } from "./use-hook-log.ts";

const route = getRouteApi("/shell/managed/webhooks/calls");

const NO_FILTERS = {
  hook: undefined,
  status: undefined,
  external_id: undefined,
  request_id: undefined,
  from: undefined,
  to: undefined,
};

/** [WMGMT-1] [IN-12] */
export function HookLogPage() {
  const { kind } = route.useSearch();
  return kind === "refused" ? <Refused /> : <Accepted />;
}

function usePage() {
  const { open, at, ...filters } = route.useSearch();
  const set = useSetSearch();
  const { kind: _, ...narrowing } = filters;
  return {
    open,
    filters,
    toolbar: (
      <HookLogFilters
        filters={filters}
        onChange={(change: Partial<Filters>) =>
          set({ ...change, at: undefined, ...("kind" in change && { open: undefined }) })
        }
      />
    ),
    onClose: () => set({ open: undefined }),
    list: {
      open,
      onOpen: (key: string | undefined) => set({ open: key }),
      isFiltered: Object.values(narrowing).some((value) => value !== undefined),
      onClearFilters: () => set(NO_FILTERS),
      at,
      onAt: (first: number | undefined) => set({ at: first }),
    },
  };
}

function Accepted() {
  const page = usePage();
  const list = useAcceptedCalls(page.filters, page.open !== undefined);
  const panel = page.open && (
    <CallPanel key={page.open} deliveryId={page.open} onClose={page.onClose} onChanged={list.refresh} />
  );
  return (
    <Page title={HOOK_LOG.title} toolbar={page.toolbar} panel={panel}>
      <AcceptedCalls {...page.list} list={list} />
    </Page>
  );
}

function Refused() {
  const page = usePage();
  const list = useRefusedCalls(page.filters, page.open !== undefined);
  const panel = page.open && <RefusedPanel key={page.open} requestId={page.open} onClose={page.onClose} />;
  return (
    <Page title={HOOK_LOG.title} toolbar={page.toolbar} panel={panel}>
      <RefusedCalls {...page.list} list={list} />
    </Page>
  );
}

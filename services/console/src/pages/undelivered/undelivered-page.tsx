import { getRouteApi } from "@tanstack/react-router";
import { UndeliveredService } from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import { useMemo, useState } from "react";
import { useWorkspace } from "../../rpc/use-session.ts";
import { REPLAY, UNDELIVERED } from "../../text/en/webhooks/undelivered.ts";
import { Button } from "../../ui/button.tsx";
import { toast } from "../../ui/dialog/toast.tsx";
import { ResourceList } from "../../ui/list/resource-list.tsx";
import { TimeRange, timestampOf } from "../../ui/list/time-range.tsx";
import { useList } from "../../ui/list/use-list.ts";
import { useSetSearch } from "../../ui/list/use-set-search.ts";
import { Page } from "../../ui/page/page.tsx";
import { useShortcut } from "../../ui/shortcuts.ts";
import { EndpointFilter } from "../deliveries/endpoint-filter.tsx";
import { useEndpoints } from "../deliveries/use-endpoints.ts";
import { Counts } from "./counts.tsx";
import { ReplayDialog } from "./replay-dialog.tsx";
import type { ReplayStart } from "./replay-request.ts";
import { Replays } from "./replays.tsx";
import { TypesField } from "./types-field.tsx";
import { columnsOf, keyOf } from "./undelivered-columns.tsx";
import { UndeliveredPanel } from "./undelivered-panel.tsx";

const route = getRouteApi("/shell/managed/webhooks/undelivered");
const NO_FILTER = { endpoint: undefined, types: undefined, from: undefined, to: undefined, at: undefined };

export function UndeliveredPage() {
  const workspace = useWorkspace();
  const { open, at, endpoint, types: joined, from, to } = route.useSearch();
  const types = useMemo(() => joined?.split(",") ?? [], [joined]);
  const set = useSetSearch();
  const filter = (change: object) => set({ ...change, at: undefined });
  const [replay, setReplay] = useState<ReplayStart>();
  const [startedId, setStartedId] = useState<bigint>();
  const endpoints = useEndpoints();
  const isOpen = open !== undefined;
  const columns = useMemo(() => columnsOf(endpoints, isOpen), [endpoints.all, isOpen]);
  const list = useList(
    UndeliveredService.method.listUndelivered,
    {
      workspace,
      endpointId: BigInt(endpoint ?? 0),
      types,
      from: timestampOf(from),
      to: timestampOf(to),
    },
    { rowsOf: (page) => page.events, keyOf, isHeld: isOpen },
  );
  const newReplay = () => setReplay({ endpoint, types, from, to });
  useShortcut("c", newReplay);
  return (
    <Page
      title={UNDELIVERED.title}
      actions={
        <Button kind="primary" onClick={newReplay}>
          {UNDELIVERED.replay}
        </Button>
      }
      toolbar={
        <>
          <EndpointFilter endpoints={endpoints} value={endpoint} onValue={(id) => filter({ endpoint: id })} />
          <TypesField value={types} onValue={(next) => filter({ types: next.join(",") || undefined })} />
          <TimeRange from={from} to={to} onRange={filter} />
        </>
      }
      panel={
        open && (
          <UndeliveredPanel
            key={open}
            openKey={open}
            row={list.rows.find((row) => keyOf(row) === open)}
            endpoints={endpoints}
            onClose={() => set({ open: undefined })}
            onReplay={setReplay}
            onChanged={list.refresh}
          />
        )
      }
    >
      <Counts endpoints={endpoints} endpoint={endpoint} onEndpoint={(id) => filter({ endpoint: id })} />
      <Replays endpoints={endpoints} startedId={startedId} onChanged={list.refresh} />
      <ResourceList
        label={UNDELIVERED.title}
        list={list}
        columns={columns}
        nameHeader="Event"
        nameOf={({ eventType }) => eventType}
        open={open}
        onOpen={(id) => set({ open: id })}
        empty={{ title: UNDELIVERED.empty, text: UNDELIVERED.emptyText }}
        isFiltered={Boolean(endpoint || joined || from || to)}
        onClearFilters={() => set(NO_FILTER)}
        at={at}
        onAt={(first) => set({ at: first })}
      />
      {replay && (
        <ReplayDialog
          start={replay}
          endpoints={endpoints}
          onClose={() => setReplay(undefined)}
          onStarted={(id) => {
            setStartedId(id);
            toast(REPLAY.started);
          }}
        />
      )}
    </Page>
  );
}

import type { HookDelivery, RefusedCall } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_delivery_pb";
import { HOOK_LOG } from "../../text/en/hook-log.ts";
import { type Column, ResourceList } from "../../ui/resource-list.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import type { List } from "../../ui/use-list.ts";
import { DeliveryStatus } from "./delivery-status.tsx";
import { secondsText } from "./refused-panel.tsx";

const ACCEPTED: readonly Column<HookDelivery>[] = [
  { header: "Received", width: "110px", render: ({ receivedAt }) => <Time at={receivedAt} /> },
  { header: "Status", width: "110px", render: ({ status }) => <DeliveryStatus status={status} /> },
  {
    header: "Duration",
    width: "80px",
    align: "end",
    render: ({ durationMs, runs }) => (runs > 0 ? `${durationMs.toLocaleString("en")} ms` : ""),
  },
  { header: "Runs", width: "50px", align: "end", render: ({ runs }) => runs },
  { header: "External id", width: "minmax(100px, 1.5fr)", render: ({ externalId }) => <code>{externalId}</code> },
  { header: "Error", width: "minmax(120px, 2fr)", render: ({ error }) => error },
];

const REFUSED: readonly Column<RefusedCall>[] = [
  { header: "Refused", width: "110px", render: ({ refusedAt }) => <Time at={refusedAt} /> },
  { header: "Status", width: "70px", render: ({ status }) => <Status tone="bad">{String(status)}</Status> },
  { header: "Reason", width: "minmax(200px, 4fr)", render: ({ reason }) => reason },
  {
    header: "Time off",
    width: "130px",
    render: ({ secondsOff }) => (secondsOff === undefined ? "" : secondsText(secondsOff)),
  },
];

interface CallListProps<Row> {
  list: List<Row>;
  open: string | undefined;
  onOpen: (key: string | undefined) => void;
  isFiltered: boolean;
  onClearFilters: () => void;
  at: number | undefined;
  onAt: (at: number | undefined) => void;
}

export function AcceptedCalls(props: CallListProps<HookDelivery>) {
  return (
    <ResourceList
      {...props}
      label={HOOK_LOG.title}
      columns={ACCEPTED}
      nameOf={({ hookName }) => hookName}
      empty={{ title: HOOK_LOG.empty, text: HOOK_LOG.emptyText }}
    />
  );
}

export function RefusedCalls(props: CallListProps<RefusedCall>) {
  return (
    <ResourceList
      {...props}
      label={HOOK_LOG.title}
      columns={REFUSED}
      nameOf={({ hookName }) => hookName}
      empty={{ title: HOOK_LOG.noRefused, text: HOOK_LOG.noRefusedText }}
    />
  );
}

import type { HookDelivery, RefusedCall } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_delivery_pb";
import { HOOK_LOG } from "../../text/en/webhooks/hook-log.ts";
import { type Column, ResourceList } from "../../ui/list/resource-list.tsx";
import type { List } from "../../ui/list/use-list.ts";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { DeliveryStatus } from "./delivery-status.tsx";
import { reasonText } from "./reason-text.ts";

const ACCEPTED: readonly Column<HookDelivery>[] = [
  { header: "Status", width: "110px", render: ({ status }) => <DeliveryStatus status={status} /> },
  { header: "Received", width: "100px", render: ({ receivedAt }) => <Time at={receivedAt} /> },
  {
    header: "Duration",
    width: "80px",
    align: "end",
    render: ({ durationMs }) => (durationMs > 0 ? `${durationMs.toLocaleString("en")} ms` : ""),
  },
  { header: "External id", width: "minmax(100px, 1.5fr)", render: ({ externalId }) => <code>{externalId}</code> },
  { header: "Error", width: "minmax(120px, 2fr)", render: ({ error }) => error },
];

const REFUSED: readonly Column<RefusedCall>[] = [
  { header: "Status", width: "60px", render: ({ status }) => <Status tone="bad">{String(status)}</Status> },
  { header: "Refused", width: "100px", render: ({ refusedAt }) => <Time at={refusedAt} /> },
  { header: "Reason", width: "minmax(200px, 4fr)", render: reasonText },
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
      nameHeader={HOOK_LOG.hook}
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
      nameHeader={HOOK_LOG.hook}
      columns={REFUSED}
      nameOf={({ hookName }) => hookName}
      empty={{ title: HOOK_LOG.noRefused, text: HOOK_LOG.noRefusedText }}
    />
  );
}

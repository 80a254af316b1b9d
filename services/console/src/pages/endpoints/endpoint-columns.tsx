import type { AttemptResult, Endpoint, EndpointHealth } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { waitingCount } from "../../text/en/webhooks/endpoint-health.ts";
import type { Column } from "../../ui/list/resource-list.tsx";
import { Time } from "../../ui/time.tsx";
import { EndpointStatusBadge, shortResult } from "./endpoint-status.tsx";
import styles from "./endpoints.module.css";

export interface EndpointOfList {
  endpoint: Endpoint;
  health: EndpointHealth | undefined;
}

export const COLUMNS: readonly Column<EndpointOfList>[] = [
  { header: "Status", width: "200px", render: ({ endpoint }) => <EndpointStatusBadge {...endpoint} /> },
  { header: "Events", width: "minmax(100px, 2fr)", render: ({ endpoint }) => endpoint.events.join(", ") },
  { header: "Waiting", width: "64px", align: "end", render: ({ health }) => (health ? waitingCount(health) : "") },
  { header: "Oldest due", width: "88px", render: ({ health }) => <Time at={health?.oldestDueAt} never="" /> },
  {
    header: "Last failure",
    width: "minmax(110px, 1fr)",
    render: ({ health }) => health?.lastFailure && <LastFailure of={health.lastFailure} />,
  },
  { header: "Description", width: "minmax(80px, 1fr)", render: ({ endpoint }) => endpoint.description },
];

function LastFailure({ of }: { of: AttemptResult }) {
  return (
    <>
      {shortResult(of)} <span className={styles.dim}>·</span> <Time at={of.at} />
    </>
  );
}

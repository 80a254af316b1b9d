import { useQuery } from "@connectrpc/connect-query";
import { UndeliveredService } from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import { useWorkspace } from "../../rpc/use-session.ts";
import { Button } from "../../ui/button.tsx";
import type { Endpoints } from "../deliveries/use-endpoints.ts";
import styles from "./undelivered.module.css";

const POLL_MS = 3_000;

interface CountsProps {
  endpoints: Endpoints;
  endpoint: string | undefined;
  onEndpoint: (endpoint: string | undefined) => void;
}

/** How many events each endpoint has missed; a count is also the filter for its endpoint. */
export function Counts({ endpoints, endpoint, onEndpoint }: CountsProps) {
  const workspace = useWorkspace();
  const { data } = useQuery(UndeliveredService.method.countUndelivered, { workspace }, { refetchInterval: POLL_MS });
  const counts = data?.counts.filter(({ events }) => events > 0) ?? [];
  if (counts.length === 0) return null;
  return (
    <div className={styles.counts} role="group" aria-label="Undelivered events by endpoint">
      {counts.map(({ endpointId, events, more }) => {
        const id = String(endpointId);
        const isChosen = id === endpoint;
        return (
          <Button key={id} aria-pressed={isChosen} onClick={() => onEndpoint(isChosen ? undefined : id)}>
            <span>{endpoints.urlOf(endpointId).replace(/^https:\/\//, "")}</span>
            <strong>
              {events.toLocaleString("en")}
              {more && "+"}
            </strong>
          </Button>
        );
      })}
    </div>
  );
}

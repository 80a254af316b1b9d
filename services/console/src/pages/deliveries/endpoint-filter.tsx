import { UNDELIVERED } from "../../text/en/webhooks/undelivered.ts";
import { Select } from "../../ui/form/input.tsx";
import styles from "./deliveries.module.css";
import { type Endpoints, endpointOptions } from "./use-endpoints.ts";

interface EndpointFilterProps {
  endpoints: Endpoints;
  value: string | undefined;
  onValue: (endpoint: string | undefined) => void;
}

/** As wide before the endpoints have come as after. */
export function EndpointFilter({ endpoints, value, onValue }: EndpointFilterProps) {
  return (
    <Select
      aria-label="Endpoint"
      className={styles.endpoint ?? ""}
      options={endpointOptions(endpoints, UNDELIVERED.anyEndpoint, value)}
      value={value ?? ""}
      onValue={(id) => onValue(id || undefined)}
    />
  );
}

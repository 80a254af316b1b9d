import { Link } from "@tanstack/react-router";
import { ENDPOINTS } from "../../text/en/endpoints.ts";
import styles from "./endpoints.module.css";

/** After a re-activation: what was missed is only sent when somebody asks for it. */
export function MissedNotice({ endpointId }: { endpointId: string }) {
  return (
    <div role="status" className={styles.notice}>
      <span>{ENDPOINTS.activatedNotice}</span>
      <Link to="/webhooks/undelivered" search={{ endpoint: endpointId } as never}>
        {ENDPOINTS.replayMissed}
      </Link>
    </div>
  );
}

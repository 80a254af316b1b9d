import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { UndeliveredService } from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import { useWorkspace } from "../../rpc/use-session.ts";
import { missedText } from "../../text/en/webhooks/endpoint-health.ts";
import { ENDPOINTS } from "../../text/en/webhooks/endpoints.ts";
import buttonStyles from "../../ui/button.module.css";
import styles from "./endpoints.module.css";

const POLL_MS = 3_000;

interface MissedNoticeProps {
  endpointId: bigint;
  /** The user has just re-activated the endpoint: what it missed is sent only when somebody asks for it. */
  isActivated: boolean;
}

/** The events that did not reach the endpoint, with the way to send them again. */
export function MissedNotice({ endpointId, isActivated }: MissedNoticeProps) {
  const workspace = useWorkspace();
  const { data } = useQuery(
    UndeliveredService.method.countUndelivered,
    { workspace, endpointId },
    { refetchInterval: POLL_MS },
  );
  const { events, more } = data?.counts[0] ?? { events: 0, more: false };
  if (!data || (events === 0 && !isActivated)) return null;
  return (
    <div role="status" className={styles.notice}>
      <span>
        {isActivated && `${ENDPOINTS.activatedNotice} `}
        {missedText(events, more)}
      </span>
      {events > 0 && (
        <Link
          to="/webhooks/undelivered"
          search={{ endpoint: String(endpointId) }}
          {...(isActivated && { className: `${buttonStyles.button} ${buttonStyles.primary}` })}
        >
          {isActivated ? ENDPOINTS.replayMissed : ENDPOINTS.showMissed}
        </Link>
      )}
    </div>
  );
}

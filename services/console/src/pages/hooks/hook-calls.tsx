import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { HookDeliveryService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_delivery_pb";
import { failureOf } from "../../rpc/errors.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import { HOOKS } from "../../text/en/webhooks/hooks.ts";
import { FailureText } from "../../ui/page/failure.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { DeliveryStatus } from "../hook-log/delivery-status.tsx";
import { reasonText } from "../hook-log/reason-text.ts";
import styles from "./hooks.module.css";

const SHOWN = 5;
const POLL_MS = 3_000;

/** The last accepted and refused calls of one hook, each a way into the log. */
export function HookCalls({ hookId }: { hookId: bigint }) {
  const workspace = useWorkspace();
  const polled = { refetchInterval: POLL_MS };
  const accepted = useQuery(
    HookDeliveryService.method.listHookDeliveries,
    { workspace, hookId, pageSize: SHOWN },
    polled,
  );
  const refused = useQuery(HookDeliveryService.method.listRefusedCalls, { workspace, hookId }, polled);
  const hook = String(hookId);
  const error = accepted.error ?? refused.error;
  return (
    <>
      {error && <FailureText failure={failureOf(error)} />}
      {accepted.data?.deliveries.length === 0 && <p className={styles.dim}>{HOOKS.noCalls}</p>}
      <ul className={styles.calls}>
        {accepted.data?.deliveries.map(({ id, status, receivedAt, error: text }) => (
          <li key={id}>
            <Link to="/webhooks/calls" search={{ hook, open: id }}>
              <Time at={receivedAt} />
            </Link>
            <DeliveryStatus status={status} />
            <span className={styles.ellipsis}>{text}</span>
          </li>
        ))}
      </ul>
      <Link to="/webhooks/calls" search={{ hook }}>
        {HOOKS.allCalls}
      </Link>
      {refused.data && refused.data.calls.length > 0 && (
        <>
          <h3>{HOOKS.refusedCalls}</h3>
          <ul className={styles.calls}>
            {refused.data.calls.slice(0, SHOWN).map((call) => (
              <li key={call.requestId}>
                <Link to="/webhooks/calls" search={{ kind: "refused", hook, open: call.requestId }}>
                  <Time at={call.refusedAt} />
                </Link>
                <Status tone="bad">{String(call.status)}</Status>
                <span>{reasonText(call)}</span>
              </li>
            ))}
          </ul>
          <Link to="/webhooks/calls" search={{ kind: "refused", hook }}>
            {HOOKS.allRefused}
          </Link>
        </>
      )}
    </>
  );
}

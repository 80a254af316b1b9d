import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { HookDeliveryService, type RefusedCall } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_delivery_pb";
import { failureOf } from "../../rpc/errors.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import { HOOK_LOG } from "../../text/en/webhooks/hook-log.ts";
import { FailureText } from "../../ui/page/failure.tsx";
import { Facts, Panel } from "../../ui/page/panel.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { adviceOn, reasonText, secondsText } from "./reason-text.ts";

interface RefusedPanelProps {
  requestId: string;
  onClose: () => void;
}

export function RefusedPanel({ requestId, onClose }: RefusedPanelProps) {
  const workspace = useWorkspace();
  const { data, error, refetch } = useQuery(HookDeliveryService.method.listRefusedCalls, { workspace, requestId });
  const call = data?.calls[0];
  return (
    <Panel title={call?.hookName ?? HOOK_LOG.title} onClose={onClose}>
      {error && <FailureText failure={failureOf(error)} onRetry={() => void refetch()} />}
      {data && !call && <p>{HOOK_LOG.gone}</p>}
      {call && (
        <>
          <p>
            Refused <Time at={call.refusedAt} /> with {call.status}: {reasonText(call)}.
          </p>
          <p>{adviceOn(call)}</p>
          <Facts facts={factsOf(call)} />
        </>
      )}
    </Panel>
  );
}

function factsOf({ hookId, hookName, status, refusedAt, secondsOff, requestId }: RefusedCall) {
  return [
    [
      "Status",
      <Status key="status" tone="bad">
        {String(status)}
      </Status>,
    ],
    [
      HOOK_LOG.hook,
      <Link key="hook" to="/webhooks/hooks" search={{ open: String(hookId) }}>
        {hookName}
      </Link>,
    ],
    ["Refused", <Time key="refused" at={refusedAt} exact />],
    ...(secondsOff === undefined ? [] : ([["Signature's time", secondsText(secondsOff)]] as const)),
    [HOOK_LOG.requestId, <code key="request">{requestId}</code>],
  ] as const;
}

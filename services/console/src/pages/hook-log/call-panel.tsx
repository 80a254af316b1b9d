import { useMutation, useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import {
  type GetHookDeliveryResponse,
  HookDeliveryService,
} from "@toolgate/gen/toolgate/inbound_hook/v1/hook_delivery_pb";
import { useState } from "react";
import { failureOf } from "../../rpc/errors.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import { HOOK_LOG } from "../../text/en/webhooks/hook-log.ts";
import { Button } from "../../ui/button.tsx";
import { BodyView } from "../../ui/code/body-view.tsx";
import { Confirm } from "../../ui/dialog/confirm.tsx";
import { FailureText } from "../../ui/page/failure.tsx";
import { Facts, Panel, Section } from "../../ui/page/panel.tsx";
import { Time } from "../../ui/time.tsx";
import { targetText } from "../hooks/hook-status.tsx";
import { CallMapping } from "./call-mapping.tsx";
import { CallSentence } from "./call-sentence.tsx";
import { DeliveryStatus, isPending } from "./delivery-status.tsx";
import styles from "./hook-log.module.css";
import { RunList } from "./run-list.tsx";

/** While a run is under way; its end is what the reader waits for. */
const POLL_MS = 1_000;

interface CallPanelProps {
  deliveryId: string;
  onClose: () => void;
  onChanged: () => void;
}

/** [IN-12] [IN-13] [WMGMT-10] */
export function CallPanel({ deliveryId, onClose, onChanged }: CallPanelProps) {
  const workspace = useWorkspace();
  const [isAsking, setAsking] = useState(false);
  const { data, error, refetch } = useQuery(
    HookDeliveryService.method.getHookDelivery,
    { workspace, deliveryId },
    { refetchInterval: ({ state }) => isPending(state.data?.delivery?.status) && POLL_MS },
  );
  const reprocess = useMutation(HookDeliveryService.method.reprocessHookDelivery);
  const delivery = data?.delivery;
  const actions = delivery && !isPending(delivery.status) && (
    <Button onClick={() => setAsking(true)}>{HOOK_LOG.reprocess}</Button>
  );
  return (
    <Panel title={delivery?.hookName ?? HOOK_LOG.title} onClose={onClose} actions={actions}>
      {error && <FailureText failure={failureOf(error)} onRetry={() => void refetch()} />}
      {delivery && <CallDetails of={data} />}
      {delivery && isAsking && (
        <Confirm
          title={`${HOOK_LOG.reprocess}?`}
          action={HOOK_LOG.reprocess}
          kind="primary"
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            await reprocess.mutateAsync({ workspace, deliveryId });
            await refetch();
            onChanged();
          }}
        >
          <p>
            The {targetText(delivery.target)} runs again with the stored body, under the same delivery id. Whatever it
            did before, it may do a second time.
          </p>
        </Confirm>
      )}
    </Panel>
  );
}

function CallDetails({ of }: { of: GetHookDeliveryResponse }) {
  const { delivery, body, contentType, headers, hookRuns } = of;
  if (!delivery) return null;
  const { id, hookId, hookName, externalId, requestId, receivedAt, status } = delivery;
  const facts = [
    ["Status", <DeliveryStatus key="status" status={status} />],
    [
      HOOK_LOG.hook,
      <Link key="hook" to="/webhooks/hooks" search={{ open: String(hookId) }}>
        {hookName}
      </Link>,
    ],
    ["Received", <Time key="received" at={receivedAt} exact />],
    ["Delivery", <code key="id">{id}</code>],
    [HOOK_LOG.externalId, externalId === "" ? "none" : <code key="external">{externalId}</code>],
    [HOOK_LOG.requestId, <code key="request">{requestId}</code>],
    ["Content type", contentType === "" ? "none" : <code key="type">{contentType}</code>],
  ] as const;
  const sent = Object.entries(headers);
  return (
    <>
      <CallSentence of={delivery} runs={hookRuns} />
      <Facts facts={facts} />
      <Section title={HOOK_LOG.body}>
        <BodyView label={HOOK_LOG.body} body={body} fileName={`${id}.txt`} formatted />
      </Section>
      <Section title={HOOK_LOG.headers}>
        {sent.length === 0 ? (
          <p className={styles.dim}>{HOOK_LOG.noHeaders}</p>
        ) : (
          <Facts facts={sent.map(([name, value]) => [name, <code key={name}>{value}</code>])} />
        )}
      </Section>
      <CallMapping hookId={hookId} />
      <RunList runs={hookRuns} />
    </>
  );
}

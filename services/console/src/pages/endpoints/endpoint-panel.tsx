import { useQuery } from "@connectrpc/connect-query";
import { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { lazy, Suspense, useState } from "react";
import { failureOf } from "../../rpc/errors.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import { ENDPOINTS } from "../../text/en/webhooks/endpoints.ts";
import { VERIFY_CODE } from "../../text/en/webhooks/receiver-code.ts";
import { CodeBlock } from "../../ui/code/code-block.tsx";
import { FailureText } from "../../ui/page/failure.tsx";
import { Facts, Panel, Section } from "../../ui/page/panel.tsx";
import { type DialogName, EndpointActions } from "./endpoint-actions.tsx";
import { DeleteEndpoint, EditEndpoint, RotateSecret } from "./endpoint-dialogs.tsx";
import { factsOf } from "./endpoint-facts.tsx";
import { Backlog, Health } from "./endpoint-health.tsx";
import { nameOf } from "./endpoint-status.tsx";
import styles from "./endpoints.module.css";
import { MissedNotice } from "./missed-notice.tsx";
import { SendTestEvent } from "./send-test-event.tsx";
import { ActivateEndpoint, DeactivateEndpoint } from "./switch-endpoint.tsx";

const SignatureCheck = lazy(async () => {
  const { SignatureCheck: component } = await import("../signature/signature-check.tsx");
  return { default: component };
});

const POLL_MS = 3_000;
const DIALOGS = {
  edit: EditEndpoint,
  test: SendTestEvent,
  rotate: RotateSecret,
  deactivate: DeactivateEndpoint,
  activate: ActivateEndpoint,
  delete: DeleteEndpoint,
} as const;

interface EndpointPanelProps {
  endpointId: string;
  onClose: () => void;
  onChanged: () => void;
}

export function EndpointPanel({ endpointId, onClose, onChanged }: EndpointPanelProps) {
  const workspace = useWorkspace();
  const [dialog, setDialog] = useState<DialogName>();
  const [isActivated, setActivated] = useState(false);
  const { data, error, refetch } = useQuery(
    EndpointService.method.getEndpoint,
    { workspace, endpointId: idOf(endpointId) },
    { refetchInterval: POLL_MS },
  );
  const endpoint = data?.endpoint;
  const Open = dialog && DIALOGS[dialog];
  const changed = () => {
    if (dialog === "activate") setActivated(true);
    if (dialog === "delete") onClose();
    else void refetch();
    onChanged();
  };
  return (
    <Panel
      title={endpoint ? nameOf(endpoint) : ENDPOINTS.title}
      onClose={onClose}
      actions={endpoint && <EndpointActions of={endpoint} onDialog={setDialog} />}
    >
      {error && <FailureText failure={failureOf(error)} onRetry={() => void refetch()} />}
      {endpoint && <MissedNotice endpointId={endpoint.id} isActivated={endpoint.active && isActivated} />}
      {endpoint && (
        <>
          {data.health && <Health of={endpoint} health={data.health} />}
          {endpoint.active && <Backlog endpointId={endpoint.id} />}
          <Facts facts={factsOf(endpoint)} />
          <Suspense>
            <SignatureCheck endpointId={endpoint.id} />
          </Suspense>
          <Section title={ENDPOINTS.verify}>
            <p className={styles.dim}>{ENDPOINTS.verifyText}</p>
            <CodeBlock label={ENDPOINTS.verify} text={VERIFY_CODE} />
          </Section>
          {Open && <Open of={endpoint} onClose={() => setDialog(undefined)} onChanged={changed} />}
        </>
      )}
    </Panel>
  );
}

/** The number in the URL; 0, which no endpoint has, for anything else. */
function idOf(text: string): bigint {
  return /^[0-9]{1,19}$/.test(text) ? BigInt(text) : 0n;
}

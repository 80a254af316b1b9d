import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { EventService } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { useState } from "react";
import * as v from "valibot";
import { useWorkspace } from "../../rpc/use-session.ts";
import { ENDPOINTS } from "../../text/en/webhooks/endpoints.ts";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { Field, Form } from "../../ui/form/form.tsx";
import { Input, Select } from "../../ui/form/input.tsx";
import type { EndpointDialogProps } from "./endpoint-dialogs.tsx";
import { nameOf } from "./endpoint-status.tsx";

const TEST = "webhook.test";
const CUSTOM = "custom.<name>";
const Values = v.object({ type: v.string(), name: v.optional(v.pipe(v.string(), v.trim()), "") });

/** [WMGMT-8] [OUT-54] Leads to the new delivery, which shows how it goes. */
export function SendTestEvent({ of, onClose }: EndpointDialogProps) {
  const workspace = useWorkspace();
  const navigate = useNavigate();
  const { data } = useQuery(EventService.method.listEventTypes, { workspace });
  const send = useMutation(EndpointService.method.sendTestEvent);
  const [type, setType] = useState(TEST);
  const others = data?.eventTypes.filter((each) => each.type !== TEST) ?? [];
  const options = [[TEST, TEST] as const, ...others.map((each) => [each.type, each.type] as const)];
  return (
    <Dialog title={`Send a test event to ${nameOf(of)}`} description={ENDPOINTS.testText} onClose={onClose}>
      <Form
        schema={Values}
        submit={ENDPOINTS.send}
        onCancel={onClose}
        onSubmit={async ({ type: chosen, name }) => {
          const sent = await send.mutateAsync({
            workspace,
            endpointId: of.id,
            type: chosen === CUSTOM ? `custom.${name}` : chosen,
          });
          onClose();
          await navigate({ to: "/webhooks/deliveries", search: { open: sent.deliveryId } });
        }}
      >
        <Field name="type" label={ENDPOINTS.testType}>
          {(control) => <Select {...control} options={options} value={type} onValue={setType} />}
        </Field>
        {type === CUSTOM && (
          <Field name="name" label={ENDPOINTS.customName}>
            {(control) => <Input {...control} data-mono placeholder="order.paid" />}
          </Field>
        )}
      </Form>
    </Dialog>
  );
}

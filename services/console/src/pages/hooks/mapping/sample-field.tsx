import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { HookDeliveryService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_delivery_pb";
import { useEffect } from "react";
import { useWorkspace } from "../../../rpc/use-session.ts";
import { MAPPING } from "../../../text/en/webhooks/hooks.ts";
import { BodyView } from "../../../ui/code/body-view.tsx";
import { Field } from "../../../ui/form/form.tsx";
import { Select, TextArea } from "../../../ui/form/input.tsx";
import { localTime } from "../../../ui/time.tsx";
import { NO_SAMPLE, type Sample } from "./use-sample-body.ts";

const OFFERED = 20;

interface SampleFieldProps {
  hookId: bigint;
  sample: Sample;
  onSample: (sample: Sample) => void;
  body: string;
}

/** One of the last bodies that the hook received, or a pasted one. */
export function SampleField({ hookId, sample, onSample, body }: SampleFieldProps) {
  const workspace = useWorkspace();
  const { data } = useQuery(HookDeliveryService.method.listHookDeliveries, { workspace, hookId, pageSize: OFFERED });
  const newest = data?.deliveries[0]?.id;
  useEffect(() => {
    // Only until the reader has chosen or pasted one.
    if (newest !== undefined && sample === NO_SAMPLE) onSample({ deliveryId: newest, pasted: "" });
  }, [newest]);
  const logged = (data?.deliveries ?? []).map(({ id, receivedAt, externalId }) => {
    const at = receivedAt ? localTime(timestampDate(receivedAt)) : "";
    return [id, externalId === "" ? at : `${at}, ${externalId}`] as const;
  });
  return (
    <>
      <Field name="sample" label={MAPPING.dryRun} hint={MAPPING.dryRunText}>
        {(control) => (
          <Select
            {...control}
            options={[...logged, ["", MAPPING.pasted]]}
            value={sample.deliveryId}
            onValue={(deliveryId) => onSample({ ...sample, deliveryId })}
          />
        )}
      </Field>
      {sample.deliveryId === "" ? (
        <Field name="body" label={MAPPING.pasteHere}>
          {(control) => (
            <TextArea
              {...control}
              data-mono
              value={sample.pasted}
              onChange={(event) => onSample({ deliveryId: "", pasted: event.target.value })}
            />
          )}
        </Field>
      ) : (
        <BodyView label={MAPPING.body} body={body} formatted />
      )}
    </>
  );
}

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { useMutation } from "@connectrpc/connect-query";
import { DeliveryService } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import * as v from "valibot";
import { useWorkspace } from "../../rpc/use-session.ts";
import { SIGNATURE } from "../../text/en/deliveries.ts";
import { Field, Form } from "../../ui/form.tsx";
import { Input, TextArea } from "../../ui/input.tsx";
import { Section } from "../../ui/panel.tsx";
import styles from "./deliveries.module.css";
import { SignatureResult } from "./signature-result.tsx";

const Received = v.object({
  headers: v.pipe(v.string(), v.trim(), v.nonEmpty("Paste the headers.")),
  body: v.string(),
  file: v.instance(File),
  received_at: v.string(),
});

interface SignatureCheckProps {
  endpointId: bigint;
  /** The delivery that the server received, so that its body can be compared; otherwise the headers may name it. */
  deliveryId?: string;
}

/** Finds out why a receiver refuses a signature. */
export function SignatureCheck({ endpointId, deliveryId = "" }: SignatureCheckProps) {
  const workspace = useWorkspace();
  const check = useMutation(DeliveryService.method.debugSignature, { gcTime: 0 });
  return (
    <Section title={SIGNATURE.title}>
      <p className={styles.dim}>{SIGNATURE.text}</p>
      <Form
        schema={Received}
        submit={SIGNATURE.check}
        onSubmit={async ({ headers, body, file, received_at: at }) =>
          check.mutateAsync({
            workspace,
            endpointId,
            deliveryId,
            headers,
            body: file.size > 0 ? new Uint8Array(await file.arrayBuffer()) : new TextEncoder().encode(body),
            receivedAt: at === "" ? undefined : timestampFromDate(new Date(at)),
          })
        }
      >
        <Field name="headers" label={SIGNATURE.headers} hint={SIGNATURE.headersHint}>
          {(control) => <TextArea {...control} data-mono rows={3} />}
        </Field>
        <Field name="body" label={SIGNATURE.body} hint={SIGNATURE.bodyHint}>
          {(control) => <TextArea {...control} data-mono rows={4} />}
        </Field>
        <Field name="file" label={SIGNATURE.file}>
          {(control) => <input {...control} type="file" />}
        </Field>
        <Field name="received_at" label={SIGNATURE.receivedAt} hint={SIGNATURE.receivedAtHint}>
          {(control) => <Input {...control} type="datetime-local" step={1} />}
        </Field>
      </Form>
      <div aria-live="polite">{check.data && <SignatureResult of={check.data} />}</div>
    </Section>
  );
}

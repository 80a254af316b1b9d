import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { useMutation } from "@connectrpc/connect-query";
import { DeliveryService } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import * as v from "valibot";
import { useWorkspace } from "../../rpc/use-session.ts";
import { SIGNATURES } from "../../text/en/webhooks/signatures.ts";
import { Field, Form } from "../../ui/form/form.tsx";
import { Input, TextArea } from "../../ui/form/input.tsx";
import { Section } from "../../ui/page/panel.tsx";
import styles from "./signature.module.css";
import { SignatureFindings } from "./signature-findings.tsx";

const Received = v.object({
  headers: v.pipe(v.string(), v.trim(), v.nonEmpty(SIGNATURES.noHeaders)),
  body: v.string(),
  file: v.instance(File),
  received_at: v.string(),
});

interface SignatureCheckProps {
  endpointId: bigint;
  /** The delivery that the server received, so that its body can be compared; otherwise the headers may name it. */
  deliveryId?: string;
}

/** [OUT-30] Why a receiver refuses a request. */
export function SignatureCheck({ endpointId, deliveryId = "" }: SignatureCheckProps) {
  const workspace = useWorkspace();
  const debug = useMutation(DeliveryService.method.debugSignature, { gcTime: 0 });
  return (
    <Section title={SIGNATURES.title}>
      <p className={styles.dim}>{SIGNATURES.text}</p>
      <Form
        schema={Received}
        submit={SIGNATURES.check}
        onSubmit={async ({ headers, body, file, received_at: at }) =>
          debug.mutateAsync({
            workspace,
            endpointId,
            deliveryId,
            headers,
            body: file.size > 0 ? new Uint8Array(await file.arrayBuffer()) : new TextEncoder().encode(body),
            receivedAt: at === "" ? undefined : timestampFromDate(new Date(at)),
          })
        }
      >
        <Field name="headers" label={SIGNATURES.headers} hint={SIGNATURES.headersHint}>
          {(control) => <TextArea {...control} data-mono rows={3} />}
        </Field>
        <Field name="body" label={SIGNATURES.body} hint={SIGNATURES.bodyHint}>
          {(control) => <TextArea {...control} data-mono rows={4} />}
        </Field>
        <Field name="file" label={SIGNATURES.file} hint={SIGNATURES.fileHint}>
          {(control) => <input {...control} type="file" className={styles.file} />}
        </Field>
        <Field name="received_at" label={SIGNATURES.received} hint={SIGNATURES.receivedHint}>
          {(control) => <Input {...control} type="datetime-local" step={1} className={styles.time} />}
        </Field>
      </Form>
      <div aria-live="polite">{debug.data && <SignatureFindings of={debug.data} />}</div>
    </Section>
  );
}

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { useMutation } from "@connectrpc/connect-query";
import { DeliveryService } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import * as v from "valibot";
import { useWorkspace } from "../../rpc/use-session.ts";
import { ENDPOINTS } from "../../text/en/endpoints.ts";
import { Field, Form } from "../../ui/form.tsx";
import { Input, TextArea } from "../../ui/input.tsx";
import styles from "./endpoints.module.css";
import { SignatureFindings } from "./signature-findings.tsx";

const Received = v.object({
  headers: v.pipe(v.string(), v.trim(), v.nonEmpty("Paste the headers, or the value of X-Service-Signature.")),
  body: v.string(),
  received_at: v.string(),
});

/** Why a receiver refuses a request. */
export function SignatureCheck({ endpointId }: { endpointId: bigint }) {
  const workspace = useWorkspace();
  const debug = useMutation(DeliveryService.method.debugSignature, { gcTime: 0 });
  return (
    <>
      <p className={styles.dim}>{ENDPOINTS.signatureText}</p>
      <Form
        schema={Received}
        submit={ENDPOINTS.check}
        onSubmit={({ headers, body, received_at }) =>
          debug.mutateAsync({
            workspace,
            endpointId,
            headers,
            // A form's text has CRLF where the user sees a line break.
            body: new TextEncoder().encode(body.replaceAll("\r\n", "\n")),
            ...(received_at !== "" && { receivedAt: timestampFromDate(new Date(received_at)) }),
          })
        }
      >
        <Field name="headers" label={ENDPOINTS.requestHeaders} hint={ENDPOINTS.requestHeadersHint}>
          {(control) => <TextArea {...control} data-mono rows={3} />}
        </Field>
        <Field name="body" label={ENDPOINTS.body} hint={ENDPOINTS.bodyHint}>
          {(control) => <TextArea {...control} data-mono rows={4} />}
        </Field>
        <Field name="received_at" label={ENDPOINTS.received} hint={ENDPOINTS.receivedHint}>
          {(control) => <Input {...control} type="datetime-local" step={1} />}
        </Field>
      </Form>
      {debug.data && <SignatureFindings of={debug.data} />}
    </>
  );
}

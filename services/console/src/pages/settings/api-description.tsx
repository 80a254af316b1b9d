import { useMutation, useQuery } from "@connectrpc/connect-query";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import * as v from "valibot";
import { failureOf } from "../../rpc/errors.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import { SETTINGS } from "../../text/en/settings.ts";
import { toast } from "../../ui/dialog/toast.tsx";
import { Field, Form } from "../../ui/form/form.tsx";
import { Input, TextArea } from "../../ui/form/input.tsx";
import { FailureText } from "../../ui/page/failure.tsx";

const line = v.pipe(v.string(), v.trim());
const Values = v.object({
  title: line,
  description: line,
  contact_name: line,
  contact_url: line,
  contact_email: line,
  license_name: line,
  license_url: line,
});

/** Title, contact and license of the OpenAPI documents. */
export function ApiDescription() {
  const workspace = useWorkspace();
  const { data, error, refetch } = useQuery(ToolService.method.getApiDescription, { workspace });
  const { mutateAsync } = useMutation(ToolService.method.setApiDescription);
  if (error) return <FailureText failure={failureOf(error)} onRetry={() => void refetch()} />;
  if (!data) return null;
  const { about } = data;
  return (
    <Form
      schema={Values}
      submit={SETTINGS.save}
      onSubmit={async (values) => {
        const { contact_name: contactName, contact_url: contactUrl, contact_email: contactEmail } = values;
        const { title, description, license_name: licenseName, license_url: licenseUrl } = values;
        const contact = { contactName, contactUrl, contactEmail };
        await mutateAsync({ workspace, about: { title, description, ...contact, licenseName, licenseUrl } });
        toast(SETTINGS.saved);
      }}
    >
      <Field name="title" label={SETTINGS.titleField} hint={SETTINGS.titleHint}>
        {(control) => <Input {...control} defaultValue={about?.title} />}
      </Field>
      <Field name="description" label={SETTINGS.description} hint={SETTINGS.descriptionHint}>
        {(control) => <TextArea {...control} defaultValue={about?.description} />}
      </Field>
      <Field name="contact_name" label={SETTINGS.contactName} hint={SETTINGS.contactNameHint}>
        {(control) => <Input {...control} defaultValue={about?.contactName} />}
      </Field>
      <Field name="contact_url" label={SETTINGS.contactUrl}>
        {(control) => <Input {...control} type="url" defaultValue={about?.contactUrl} />}
      </Field>
      <Field name="contact_email" label={SETTINGS.contactEmail}>
        {(control) => <Input {...control} type="email" defaultValue={about?.contactEmail} />}
      </Field>
      <Field name="license_name" label={SETTINGS.licenseName} hint={SETTINGS.licenseNameHint}>
        {(control) => <Input {...control} defaultValue={about?.licenseName} />}
      </Field>
      <Field name="license_url" label={SETTINGS.licenseUrl} hint={SETTINGS.licenseUrlHint}>
        {(control) => <Input {...control} type="url" defaultValue={about?.licenseUrl} />}
      </Field>
    </Form>
  );
}

import { useMutation } from "@connectrpc/connect-query";
import { DataSourceService, type Secret } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import * as v from "valibot";
import { useRole, useWorkspace } from "../../rpc/use-session.ts";
import { DATA, SECRETS } from "../../text/en/tools/data.ts";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { toast } from "../../ui/dialog/toast.tsx";
import { Field, Form } from "../../ui/form/form.tsx";
import { Input, TextArea } from "../../ui/form/input.tsx";
import type { Column } from "../../ui/list/resource-list.tsx";
import { useList } from "../../ui/list/use-list.ts";
import { Facts } from "../../ui/page/panel.tsx";
import { Time } from "../../ui/time.tsx";
import { Name, NameField } from "./name-field.tsx";
import { NamedPage, type NamedProps } from "./named-page.tsx";
import { NamedPanel } from "./named-panel.tsx";

const COLUMNS: readonly Column<Secret>[] = [
  { header: SECRETS.hosts, width: "minmax(160px, 3fr)", render: ({ hosts }) => hosts.join(", ") },
  { header: SECRETS.saved, width: "110px", render: ({ savedAt }) => <Time at={savedAt} /> },
];

/** Names and hosts: values are written here and never read. */
export function SecretsPage() {
  const workspace = useWorkspace();
  const isAdmin = useRole() === "admin";
  const list = useList(
    DataSourceService.method.listSecrets,
    { workspace },
    { rowsOf: (page) => page.secrets, keyOf: ({ name }) => name },
  );
  return (
    <NamedPage
      text={SECRETS}
      list={list}
      columns={COLUMNS}
      create={isAdmin ? (dialog) => <SaveSecret {...dialog} /> : undefined}
      panel={(secret, panel) => <SecretPanel key={secret.name} of={secret} isAdmin={isAdmin} {...panel} />}
    >
      {!isAdmin && <p>{SECRETS.adminsOnly}</p>}
    </NamedPage>
  );
}

function SecretPanel({ of, isAdmin, ...panel }: { of: Secret; isAdmin: boolean } & NamedProps) {
  const workspace = useWorkspace();
  const { mutateAsync } = useMutation(DataSourceService.method.deleteSecret);
  const replace = { label: SECRETS.replace, dialog: (dialog: NamedProps) => <SaveSecret of={of} {...dialog} /> };
  const remove = { text: SECRETS.deleteText, call: () => mutateAsync({ workspace, name: of.name }) };
  return (
    <NamedPanel name={of.name} edit={isAdmin ? replace : undefined} remove={isAdmin ? remove : undefined} {...panel}>
      <Facts
        facts={[
          [SECRETS.usage, <code key="usage">{`{{secret:${of.name}}}`}</code>],
          [SECRETS.hosts, of.hosts.join(", ")],
          [
            SECRETS.saved,
            <span key="saved">
              <Time at={of.savedAt} exact /> by {of.savedBy}
            </span>,
          ],
        ]}
      />
    </NamedPanel>
  );
}

const Values = v.object({
  name: Name,
  value: v.string(),
  hosts: v.pipe(
    v.string(),
    v.transform((text) => text.split(/\s+/).filter(Boolean)),
  ),
});

function SaveSecret({ of, onClose, onChanged }: { of?: Secret } & NamedProps) {
  const workspace = useWorkspace();
  const { mutateAsync, reset } = useMutation(DataSourceService.method.saveSecret, { gcTime: 0 });
  return (
    <Dialog title={of ? `${SECRETS.replace} ${of.name}` : SECRETS.create} onClose={onClose}>
      <Form
        schema={Values}
        submit={DATA.save}
        onCancel={onClose}
        onSubmit={async (secret) => {
          await mutateAsync({ workspace, ...secret }).finally(reset);
          toast(DATA.saved(secret.name));
          onChanged(secret.name);
          onClose();
        }}
      >
        <NameField of={of?.name} />
        <Field name="value" label={SECRETS.value} hint={SECRETS.valueHint}>
          {(control) => (
            <Input {...control} data-mono type="password" autoComplete="new-password" autoFocus={of !== undefined} />
          )}
        </Field>
        <Field name="hosts" label={SECRETS.hosts} hint={SECRETS.hostsHint}>
          {(control) => <TextArea {...control} data-mono defaultValue={of?.hosts.join("\n")} />}
        </Field>
      </Form>
    </Dialog>
  );
}

import { useMutation } from "@connectrpc/connect-query";
import { DataSourceService, type PreparedQuery, QueryMode } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import * as v from "valibot";
import { useWorkspace } from "../../rpc/use-session.ts";
import { DATA, QUERIES } from "../../text/en/tools/data.ts";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { toast } from "../../ui/dialog/toast.tsx";
import { Field, Form } from "../../ui/form/form.tsx";
import { Select, TextArea } from "../../ui/form/input.tsx";
import { Name, NameField } from "./name-field.tsx";
import type { NamedProps } from "./named-page.tsx";
import { TryQuery } from "./try-query.tsx";

const MODES = [
  [String(QueryMode.READ), QUERIES.read],
  [String(QueryMode.WRITE), QUERIES.write],
] as const;
const Values = v.object({
  name: Name,
  mode: v.pipe(v.string(), v.transform(Number)),
  sql: v.pipe(v.string(), v.nonEmpty("Enter a statement.")),
});

export function SaveQuery({ of, onClose, onChanged }: { of?: PreparedQuery } & NamedProps) {
  const workspace = useWorkspace();
  const { mutateAsync } = useMutation(DataSourceService.method.savePreparedQuery);
  return (
    <Dialog title={of ? `${DATA.edit} ${of.name}` : QUERIES.create} size="large" onClose={onClose}>
      <Form
        schema={Values}
        submit={DATA.save}
        onCancel={onClose}
        onSubmit={async (query) => {
          await mutateAsync({ workspace, query });
          toast(DATA.saved(query.name));
          onChanged(query.name);
          onClose();
        }}
      >
        <NameField of={of?.name} hint={QUERIES.nameHint} />
        <Field name="mode" label={QUERIES.mode} hint={QUERIES.modeHint}>
          {(control) => <Select {...control} options={MODES} defaultValue={String(of?.mode || QueryMode.READ)} />}
        </Field>
        <Field name="sql" label={QUERIES.sql} hint={QUERIES.sqlHint}>
          {(control) => (
            <TextArea {...control} data-mono rows={8} defaultValue={of?.sql} autoFocus={of !== undefined} />
          )}
        </Field>
        <TryQuery />
      </Form>
    </Dialog>
  );
}

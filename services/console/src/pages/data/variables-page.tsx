import { useMutation } from "@connectrpc/connect-query";
import { DataSourceService, type Variable } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import * as v from "valibot";
import { useWorkspace } from "../../rpc/use-session.ts";
import { DATA, VARIABLES } from "../../text/en/tools/data.ts";
import { CodeBlock } from "../../ui/code/code-block.tsx";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { toast } from "../../ui/dialog/toast.tsx";
import { Field, Form } from "../../ui/form/form.tsx";
import { TextArea } from "../../ui/form/input.tsx";
import type { Column } from "../../ui/list/resource-list.tsx";
import { useList } from "../../ui/list/use-list.ts";
import { Name, NameField } from "./name-field.tsx";
import { NamedPage, type NamedProps } from "./named-page.tsx";
import { NamedPanel } from "./named-panel.tsx";

const COLUMNS: readonly Column<Variable>[] = [
  { header: VARIABLES.value, width: "minmax(160px, 4fr)", render: ({ value }) => value },
];

export function VariablesPage() {
  const workspace = useWorkspace();
  const list = useList(
    DataSourceService.method.listVariables,
    { workspace },
    { rowsOf: (page) => page.variables, keyOf: ({ name }) => name },
  );
  return (
    <NamedPage
      text={VARIABLES}
      list={list}
      columns={COLUMNS}
      create={(dialog) => <SaveVariable {...dialog} />}
      panel={(variable, panel) => <VariablePanel key={variable.name} of={variable} {...panel} />}
    />
  );
}

function VariablePanel({ of, ...panel }: { of: Variable } & NamedProps) {
  const workspace = useWorkspace();
  const { mutateAsync } = useMutation(DataSourceService.method.deleteVariable);
  return (
    <NamedPanel
      name={of.name}
      edit={{ label: DATA.edit, dialog: (dialog) => <SaveVariable of={of} {...dialog} /> }}
      remove={{ text: VARIABLES.deleteText, call: () => mutateAsync({ workspace, name: of.name }) }}
      {...panel}
    >
      <CodeBlock label={VARIABLES.value} text={of.value} />
    </NamedPanel>
  );
}

const Values = v.object({ name: Name, value: v.string() });

function SaveVariable({ of, onClose, onChanged }: { of?: Variable } & NamedProps) {
  const workspace = useWorkspace();
  const { mutateAsync } = useMutation(DataSourceService.method.saveVariable);
  return (
    <Dialog title={of ? `${DATA.edit} ${of.name}` : VARIABLES.create} onClose={onClose}>
      <Form
        schema={Values}
        submit={DATA.save}
        onCancel={onClose}
        onSubmit={async (variable) => {
          await mutateAsync({ workspace, variable });
          toast(DATA.saved(variable.name));
          onChanged(variable.name);
          onClose();
        }}
      >
        <NameField of={of?.name} />
        <Field name="value" label={VARIABLES.value} hint={VARIABLES.valueHint}>
          {(control) => <TextArea {...control} data-mono defaultValue={of?.value} autoFocus={of !== undefined} />}
        </Field>
      </Form>
    </Dialog>
  );
}

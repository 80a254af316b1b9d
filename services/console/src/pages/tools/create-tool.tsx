import { Code, ConnectError } from "@connectrpc/connect";
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import * as v from "valibot";
import { TOOL_KINDS } from "../../routes/tools.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import { KIND_CHOICES, TOOLS } from "../../text/en/tools/tools.ts";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { Field, Form } from "../../ui/form/form.tsx";
import { Input, Select } from "../../ui/form/input.tsx";

const Values = v.object({
  name: v.pipe(v.string(), v.trim(), v.nonEmpty(TOOLS.nameMissing), v.regex(/^[A-Za-z0-9_-]{1,64}$/, TOOLS.nameWrong)),
  kind: v.picklist(TOOL_KINDS),
});

/** Names a tool and its kind; the editor saves it. */
export function CreateTool({ onClose }: { onClose: () => void }) {
  const workspace = useWorkspace();
  const transport = useTransport();
  const navigate = useNavigate();
  const mustBeFree = async (name: string) => {
    const found = await callUnaryMethod(transport, ToolService.method.getTool, { workspace, name }).catch((error) => {
      if (ConnectError.from(error).code !== Code.NotFound) throw error;
    });
    if (found) throw new ConnectError(`name: ${TOOLS.nameTaken}`, Code.InvalidArgument);
  };
  return (
    <Dialog title={TOOLS.create} onClose={onClose}>
      <Form
        schema={Values}
        submit={TOOLS.goOn}
        onCancel={onClose}
        onSubmit={async ({ name, kind }) => {
          await mustBeFree(name);
          await navigate({ to: "/tools/$name", params: { name }, search: { kind } });
        }}
      >
        <Field name="name" label={TOOLS.name} hint={TOOLS.nameHint}>
          {(control) => <Input {...control} data-mono autoFocus />}
        </Field>
        <Field name="kind" label={TOOLS.kind} hint={TOOLS.kindHint}>
          {(control) => <Select {...control} options={KIND_CHOICES} />}
        </Field>
      </Form>
    </Dialog>
  );
}

import { useMutation } from "@connectrpc/connect-query";
import { HookService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { useState } from "react";
import * as v from "valibot";
import { useWorkspace } from "../../../rpc/use-session.ts";
import { HOOKS } from "../../../text/en/webhooks/hooks.ts";
import { Dialog } from "../../../ui/dialog/dialog.tsx";
import { toast } from "../../../ui/dialog/toast.tsx";
import { Form } from "../../../ui/form/form.tsx";
import type { HookDialogProps } from "../hook-dialogs.tsx";
import { useParametersOf } from "../use-targets.ts";
import { ArgumentsFields, argumentsValue } from "./arguments-fields.tsx";
import { DryRunResult } from "./dry-run-result.tsx";
import styles from "./mapping.module.css";
import { messageOf, pointersIn, sourceOf } from "./pointers.ts";
import { SampleField } from "./sample-field.tsx";
import { useDryRun } from "./use-dry-run.ts";
import { NO_SAMPLE, type Sample, useSampleBody } from "./use-sample-body.ts";

/** [IN-7] [IN-40] Edits where the arguments come from, and shows at once what a body becomes. */
export function MappingDialog({ of, onClose, onChanged }: HookDialogProps) {
  const workspace = useWorkspace();
  const update = useMutation(HookService.method.updateHook);
  const [opened] = useState(of);
  const [source, setSource] = useState(() => sourceOf(of.arguments));
  const [sample, setSample] = useState<Sample>(NO_SAMPLE);
  const parameters = useParametersOf(opened.target);
  const body = useSampleBody(sample);
  const dryRun = useDryRun(opened.id, source, sample);
  return (
    <Dialog title={`${HOOKS.arguments} of ${opened.name}`} size="large" onClose={onClose}>
      {!parameters.isLoading && (
        <Form
          schema={v.object({ arguments: argumentsValue(source) })}
          submit={HOOKS.save}
          onCancel={onClose}
          onSubmit={async (_, overwrite) => {
            await update.mutateAsync({
              workspace,
              hookId: opened.id,
              arguments: messageOf(source),
              expectedVersion: overwrite ? undefined : opened.version,
            });
            toast(`${opened.name} is saved`);
            onChanged();
            onClose();
          }}
        >
          <div className={styles.mapping}>
            <div className={styles.side}>
              <ArgumentsFields
                source={source}
                onSource={setSource}
                parameters={parameters.data}
                suggestions={pointersIn(body)}
                violations={dryRun.byArgument}
              />
            </div>
            <div className={styles.side}>
              <SampleField hookId={opened.id} sample={sample} onSample={setSample} body={body} />
              <DryRunResult of={dryRun} rows={source.from === "fields" ? [] : source.rows} hasBody={body !== ""} />
            </div>
          </div>
        </Form>
      )}
    </Dialog>
  );
}

import type { MessageInitShape } from "@bufbuild/protobuf";
import { useMutation } from "@connectrpc/connect-query";
import { ModelFault, ModelService, type TestModelRequestSchema } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import { failureOf } from "../../rpc/errors.ts";
import { FAULTS, MODELS } from "../../text/en/assistants/models.ts";
import { Button } from "../../ui/button.tsx";
import { Status } from "../../ui/status.tsx";
import styles from "./models.module.css";

interface ModelTestProps {
  /** What to test, from the form around it if there is one. */
  read: (form: HTMLFormElement | null) => MessageInitShape<typeof TestModelRequestSchema>;
}

/** Asks the model one question, and says which setting is wrong. The key is in no cache. */
export function ModelTest({ read }: ModelTestProps) {
  const test = useMutation(ModelService.method.testModel, { gcTime: 0 });
  const { fault, error = "", durationMs = 0 } = test.data ?? {};
  return (
    <div className={styles.test}>
      <Button pending={test.isPending} onClick={({ currentTarget: { form } }) => test.mutate(read(form))}>
        {test.isPending ? MODELS.testing : MODELS.test}
      </Button>
      <div aria-live="polite">
        {test.error && <Status tone="bad">{failureOf(test.error).message}</Status>}
        {fault === ModelFault.UNSPECIFIED && <Status tone="good">{MODELS.works(durationMs)}</Status>}
        {fault !== undefined && fault !== ModelFault.UNSPECIFIED && (
          <>
            <Status tone="bad">{FAULTS[fault]}</Status>
            <p>{error}</p>
          </>
        )}
      </div>
    </div>
  );
}

import type { ExampleCall } from "@toolgate/api-examples/example-call";
import { trimPasted } from "@toolgate/rules/pasted";
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { API_TAB } from "../../../text/en/tools/api-tab.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/dialog/confirm.tsx";
import { Field } from "../../../ui/form/form.tsx";
import { TextArea } from "../../../ui/form/input.tsx";
import { Part } from "../../../ui/page/part.tsx";
import { Status } from "../../../ui/status.tsx";
import styles from "./api-tab.module.css";
import { KeyField, keyFaultOf, useKeyField } from "./key-field.tsx";
import { TriedResponse } from "./tried-response.tsx";
import { isJsonObjectText, type TriedCall, tryCall } from "./try-call.ts";

interface TryOutProps {
  call: ExampleCall;
  mayWrite: boolean;
  /** Where the page has the key already; otherwise it has a field of its own. */
  keyField?: RefObject<HTMLInputElement | null>;
  /** Beside it, under the response. */
  children?: ReactNode;
}

/** [BLD-32] A real call with a pasted key. */
export function TryOut({ call, mayWrite, keyField, children }: TryOutProps) {
  const own = useKeyField();
  const key = keyField ?? own;
  const args = useRef<HTMLTextAreaElement>(null);
  const [running, setRunning] = useState<AbortController>();
  const [isAsking, setAsking] = useState(false);
  const [fault, setFault] = useState("");
  const [tried, setTried] = useState<TriedCall>();
  useEffect(() => () => running?.abort(), [running]);

  const send = async () => {
    const controller = new AbortController();
    setRunning(controller);
    setTried(undefined);
    try {
      const pasted = trimPasted(key.current?.value ?? "");
      const argsJson = args.current?.value ?? "";
      setTried(await tryCall({ url: call.url, key: pasted, argsJson, signal: controller.signal }));
    } catch {
      if (!controller.signal.aborted) setFault(API_TAB.unreachable);
    } finally {
      setRunning(undefined);
    }
  };
  const start = () => {
    const isObject = isJsonObjectText(args.current?.value ?? "");
    const found = keyFaultOf(key.current?.value ?? "") || (isObject ? "" : API_TAB.argsFault);
    setFault(found);
    if (found !== "" || running) return;
    if (mayWrite) setAsking(true);
    else void send();
  };
  return (
    <div className={styles.row}>
      <Part title={API_TAB.tryOut}>
        <p className={styles.dim}>{API_TAB.tryText}</p>
        {mayWrite && (
          <Status tone="warn" icon="warn">
            {API_TAB.tryWrites}
          </Status>
        )}
        {!keyField && <KeyField field={own} hint={API_TAB.keyHint} onEnter={start} />}
        <Field name="try_args" label={API_TAB.args}>
          {(control) => (
            <TextArea {...control} ref={args} data-mono rows={8} defaultValue={JSON.stringify(call.args, null, 2)} />
          )}
        </Field>
        {fault !== "" && (
          <p role="alert" className={styles.alert}>
            {fault}
          </p>
        )}
        <div className={styles.line}>
          <Button kind="primary" pending={running !== undefined} onClick={start}>
            {API_TAB.send}
          </Button>
          <span role="status" className={styles.dim}>
            {running && API_TAB.sending}
          </span>
        </div>
      </Part>
      <div className={styles.column}>
        {tried && <TriedResponse tried={tried} />}
        {children}
      </div>
      {isAsking && (
        <Confirm
          title={API_TAB.tryQuestion(call.tool)}
          action={API_TAB.call}
          onConfirm={send}
          onClose={() => setAsking(false)}
        >
          <p>{API_TAB.tryWarning}</p>
        </Confirm>
      )}
    </div>
  );
}

import type { ExampleCall } from "@toolgate/api-examples/example-call";
import { pastedFault, trimPasted } from "@toolgate/rules/pasted";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { API_TAB } from "../../../text/en/api-tab.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/dialog/confirm.tsx";
import { Field } from "../../../ui/form/form.tsx";
import { Input, TextArea } from "../../../ui/form/input.tsx";
import { Part } from "../../../ui/page/part.tsx";
import { Status } from "../../../ui/status.tsx";
import styles from "./api-tab.module.css";
import { TriedResponse } from "./tried-response.tsx";
import { isJsonObjectText, type TriedCall, tryCall } from "./try-call.ts";

interface TryOutProps {
  call: ExampleCall;
  mayWrite: boolean;
  /** Beside it, under the response. */
  children: ReactNode;
}

/**
 * [BLD-32] [BLD-33] [BLD-35] The pasted key is in its field alone, from where each request takes it: never in state, a query, a
 * form that a browser would offer to remember, or the URL.
 */
export function TryOut({ call, mayWrite, children }: TryOutProps) {
  const key = useKeyField();
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
    const found = faultOf(key.current?.value ?? "", args.current?.value ?? "");
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
        <Field name="try_key" label={API_TAB.key} hint={API_TAB.keyHint}>
          {({ name: _, ...control }) => (
            <Input
              {...control}
              ref={key}
              type="password"
              data-mono
              data-1p-ignore
              data-lpignore="true"
              data-bwignore
              onKeyDown={(event) => event.key === "Enter" && start()}
            />
          )}
        </Field>
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

/** The field loses its text when the tab is left, even if the browser keeps the page to go back to. */
function useKeyField() {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const input = field.current;
    const clear = () => {
      if (input) input.value = "";
    };
    window.addEventListener("pagehide", clear);
    return () => {
      window.removeEventListener("pagehide", clear);
      clear();
    };
  }, []);
  return field;
}

function faultOf(pasted: string, argsJson: string): string {
  const key = trimPasted(pasted);
  if (key === "") return API_TAB.noKey;
  const fault = pastedFault(key) ?? (/[^\x21-\x7e]/.test(key) ? "has characters that no key has" : undefined);
  if (fault) return API_TAB.keyFault(fault);
  return isJsonObjectText(argsJson) ? "" : API_TAB.argsFault;
}

import { useId, useRef, useState } from "react";
import { Button } from "../button.tsx";
import { CopyButton } from "../code/copy.tsx";
import { download } from "../download.ts";
import { Checkbox, Input } from "../form/input.tsx";
import { Dialog, DialogButtons } from "./dialog.tsx";
import styles from "./secret-once.module.css";

interface SecretOnceProps {
  title: string;
  /** What it is for, and that it is shown only now. */
  text: string;
  secret: string;
  /** The variable that programs read it from. */
  variable?: string;
  /** Further values that are shown only now, such as a hook's URL. */
  values?: readonly (readonly [label: string, value: string])[];
  fileName: string;
  onClose: () => void;
}

/** A secret that nobody can show again. It closes at once after it was copied or saved; otherwise it asks. */
export function SecretOnce({ title, text, secret, variable, values = [], fileName, onClose }: SecretOnceProps) {
  const id = useId();
  const [kept, setKept] = useState(false);
  const [asked, setAsked] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const shown = [...values, ...(secret === "" ? [] : [["Secret", secret] as const])];
  const save = () => {
    download(fileName, shown.map(([, value]) => `${value}\n`).join(""), "text/plain");
    setKept(true);
  };
  return (
    <Dialog title={title} description={text} onClose={() => (kept ? onClose() : setAsked(true))} initialFocus={field}>
      {shown.map(([label, value], index) => (
        <div key={label} className={styles.row}>
          <label htmlFor={`${id}-${index}`}>{label}</label>
          <div className={styles.value}>
            <Input
              ref={index === 0 ? field : undefined}
              id={`${id}-${index}`}
              data-mono
              readOnly
              value={value}
              onFocus={(event) => event.target.select()}
              onCopy={() => setKept(true)}
            />
            <CopyButton text={value} onCopied={() => setKept(true)} />
          </div>
        </div>
      ))}
      <div className={styles.more}>
        {variable && (
          <CopyButton
            text={`export ${variable}=${secret}`}
            label={`Copy as export ${variable}=…`}
            onCopied={() => setKept(true)}
          />
        )}
        <Button onClick={save}>Download</Button>
      </div>
      <Checkbox label="I have stored it" checked={kept} onChange={(event) => setKept(event.target.checked)} />
      {asked && !kept && (
        <p role="alert" className={styles.asked}>
          It cannot be shown again. Copy or download it first, or tick “I have stored it”.
        </p>
      )}
      <DialogButtons>
        <Button kind="primary" onClick={() => (kept ? onClose() : setAsked(true))}>
          Done
        </Button>
      </DialogButtons>
    </Dialog>
  );
}

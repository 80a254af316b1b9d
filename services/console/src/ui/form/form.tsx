import { createContext, type ReactNode, use, useId, useState } from "react";
import * as v from "valibot";
import { type Failure, failureOf } from "../../rpc/errors.ts";
import { Button } from "../button.tsx";
import { DialogButtons } from "../dialog/dialog.tsx";
import { FailureText } from "../page/failure.tsx";
import styles from "./form.module.css";
import { useDiscard } from "./use-discard.tsx";

type Errors = Readonly<Record<string, string>>;
/** What is wrong with the fields of the form, by name. */
export const ErrorsContext = createContext<Errors>({});

/** Errors of fields that belong to no form, by the fields' names. */
export function FieldErrors({ errors, children }: { errors: Errors; children: ReactNode }) {
  return <ErrorsContext value={errors}>{children}</ErrorsContext>;
}

interface FormProps<Schema extends v.GenericSchema> {
  /** What the values must be; its keys are the names of the fields. */
  schema: Schema;
  /**
   * Rejects with the error of the call, which is shown at its field or above the buttons. `overwrite`: the user has been told
   * that somebody else saved the object meanwhile, and saves nevertheless.
   */
  onSubmit: (values: v.InferOutput<Schema>, overwrite: boolean) => Promise<unknown>;
  /** What is submitted, when it is not simply the fields' texts. */
  read?: (form: FormData) => unknown;
  submit: string;
  onCancel?: () => void;
  children: ReactNode;
}

const CONFLICT =
  "What you entered is still here. Save over it to replace only what you changed, or cancel and look at the newer version.";

const textsOf = (form: FormData): unknown => Object.fromEntries(form);

export function Form<Schema extends v.GenericSchema>({
  schema,
  onSubmit,
  read = textsOf,
  submit,
  onCancel,
  children,
}: FormProps<Schema>) {
  const [errors, setErrors] = useState<Errors>({});
  const [failure, setFailure] = useState<Failure>();
  const [pending, setPending] = useState(false);
  const { onChange, question } = useDiscard(pending, onCancel);
  const send = async (element: HTMLFormElement, overwrite: boolean) => {
    const parsed = v.safeParse(schema, read(new FormData(element)));
    setFailure(undefined);
    if (!parsed.success) {
      const found = Object.fromEntries(
        parsed.issues.map((issue) => [v.getDotPath(issue)?.split(".")[0] ?? "", issue.message]),
      );
      setErrors(found);
      element.querySelector<HTMLElement>(`[name="${Object.keys(found)[0]}"]`)?.focus();
      return;
    }
    setPending(true);
    try {
      await onSubmit(parsed.output, overwrite);
      setErrors({});
    } catch (error) {
      const refused = failureOf(error);
      // The server names a field of a nested message by its path, such as "query.sql".
      const field = refused.field.split(".").find((part) => element.querySelector(`[name="${part}"]`) !== null);
      setErrors(field ? { [field]: refused.message } : {});
      setFailure(field ? undefined : refused);
    } finally {
      setPending(false);
    }
  };
  return (
    <ErrorsContext value={errors}>
      <form
        noValidate
        className={styles.form}
        onChange={onChange}
        onSubmit={(event) => {
          event.preventDefault();
          event.stopPropagation();
          const { submitter } = event.nativeEvent as SubmitEvent;
          if (!pending) void send(event.currentTarget, submitter?.dataset.overwrite === "true");
        }}
      >
        {children}
        {failure && <FailureText failure={failure} />}
        {failure?.isConflict && <p>{CONFLICT}</p>}
        <DialogButtons>
          {onCancel && (
            <Button pending={pending} onClick={onCancel}>
              Cancel
            </Button>
          )}
          {failure?.isConflict && (
            <Button type="submit" data-overwrite="true" kind="danger">
              Save over it
            </Button>
          )}
          <Button type="submit" kind="primary" pending={pending}>
            {submit}
          </Button>
        </DialogButtons>
      </form>
      {question}
    </ErrorsContext>
  );
}

/** What a control needs to belong to its label, hint and error. */
export interface ControlProps {
  id: string;
  name: string;
  "aria-invalid": true | undefined;
  "aria-describedby": string | undefined;
}

interface FieldProps {
  name: string;
  label: string;
  hint?: ReactNode;
  children: (control: ControlProps) => ReactNode;
}

export function Field({ name, label, hint, children }: FieldProps) {
  const id = useId();
  const error = use(ErrorsContext)[name];
  const described = [hint !== undefined && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ");
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {children({ id, name, "aria-invalid": error ? true : undefined, "aria-describedby": described || undefined })}
      {error && (
        <span id={`${id}-error`} role="alert" className={styles.error}>
          {error}
        </span>
      )}
      {hint !== undefined && (
        <span id={`${id}-hint`} className={styles.hint}>
          {hint}
        </span>
      )}
    </div>
  );
}

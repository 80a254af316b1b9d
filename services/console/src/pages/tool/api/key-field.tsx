import { pastedFault, trimPasted } from "@toolgate/rules/pasted";
import { type RefObject, useEffect, useRef } from "react";
import { API_TAB } from "../../../text/en/tools/api-tab.ts";
import { Field } from "../../../ui/form/form.tsx";
import { Input } from "../../../ui/form/input.tsx";

/** The field loses its text when its part of the page is left, even if the browser keeps the page to go back to. */
export function useKeyField(): RefObject<HTMLInputElement | null> {
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

interface KeyFieldProps {
  field: RefObject<HTMLInputElement | null>;
  hint: string;
  onEnter: () => void;
}

/**
 * [BLD-33] [BLD-35] The pasted key is in this field alone, from where each request takes it: never in state, a query, a form
 * that a browser would offer to remember, or the URL.
 */
export function KeyField({ field, hint, onEnter }: KeyFieldProps) {
  return (
    <Field name="try_key" label={API_TAB.key} hint={hint}>
      {({ name: _, ...control }) => (
        <Input
          {...control}
          ref={field}
          type="password"
          data-mono
          data-1p-ignore
          data-lpignore="true"
          data-bwignore
          onKeyDown={(event) => event.key === "Enter" && onEnter()}
        />
      )}
    </Field>
  );
}

/** What is wrong with a pasted key as it stands; "" if nothing is. */
export function keyFaultOf(pasted: string): string {
  const key = trimPasted(pasted);
  if (key === "") return API_TAB.noKey;
  const fault = pastedFault(key) ?? (/[^\x21-\x7e]/.test(key) ? "has characters that no key has" : undefined);
  return fault ? API_TAB.keyFault(fault) : "";
}

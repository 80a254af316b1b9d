import { useEffect, useRef } from "react";
import { Input } from "../form/input.tsx";
import { useShortcut } from "../shortcuts.ts";

const TYPING_MS = 150;

interface SearchFieldProps {
  label: string;
  value: string | undefined;
  /** Called when the user pauses; undefined when the field is empty. */
  onValue: (value: string | undefined) => void;
}

/** The search of a list; "/" leads to it. */
export function SearchField({ label, value, onValue }: SearchFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useShortcut("/", () => field.current?.focus());
  useEffect(() => () => clearTimeout(timer.current), []);
  // Filters that are cleared elsewhere, and Back.
  useEffect(() => {
    if (field.current && document.activeElement !== field.current) field.current.value = value ?? "";
  }, [value]);
  return (
    <Input
      ref={field}
      type="search"
      aria-label={label}
      placeholder={label}
      defaultValue={value}
      onChange={({ target }) => {
        clearTimeout(timer.current);
        timer.current = setTimeout(() => onValue(target.value.trim() || undefined), TYPING_MS);
      }}
    />
  );
}

import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { useEffect, useId, useRef } from "react";
import { Input } from "../form/input.tsx";
import styles from "./time-range.module.css";

/** ISO times, as the URL has them. */
interface TimeRangeProps {
  from: string | undefined;
  to: string | undefined;
  onRange: (range: { from?: string | undefined; to?: string | undefined }) => void;
}

/** The filter of a log by time, in the reader's zone. */
export function TimeRange({ from, to, onRange }: TimeRangeProps) {
  return (
    <span className={styles.range}>
      <Moment label="From" value={from} onValue={(value) => onRange({ from: value })} />
      <Moment label="To" value={to} onValue={(value) => onRange({ to: value })} />
    </span>
  );
}

interface MomentProps {
  label: string;
  value: string | undefined;
  onValue: (value: string | undefined) => void;
}

function Moment({ label, value, onValue }: MomentProps) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const shown = value === undefined ? "" : localInput(new Date(value));
  useEffect(() => {
    if (field.current) field.current.value = shown;
  }, [shown]);
  const choose = (text: string) => {
    if (text !== shown) onValue(isoOfInput(text));
  };
  return (
    <span className={styles.moment}>
      <label htmlFor={id}>{label}</label>
      <Input
        ref={field}
        id={id}
        type="datetime-local"
        defaultValue={shown}
        onBlur={({ target }) => choose(target.value)}
        onKeyDown={({ key, currentTarget }) => key === "Enter" && choose(currentTarget.value)}
      />
    </span>
  );
}

/** A time of the URL, as the RPCs take it. */
export function timestampOf(time: string | undefined): Timestamp | undefined {
  return time === undefined ? undefined : timestampFromDate(new Date(time));
}

/** A time as an input of type datetime-local has it, in the reader's zone. */
export function localInput(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The ISO time of such an input; undefined when it is empty. */
export function isoOfInput(value: string): string | undefined {
  return value === "" ? undefined : new Date(value).toISOString();
}

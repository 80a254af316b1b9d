import { useSyncExternalStore } from "react";
import styles from "./toast.module.css";

const SHOWN_MS = 4_000;
let shown = "";
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

function show(text: string) {
  shown = text;
  for (const listener of listeners) listener();
}

/** Says for a few seconds that something was done. Never an error: those stay where they belong. */
export function toast(text: string): void {
  clearTimeout(timer);
  show(text);
  timer = setTimeout(() => show(""), SHOWN_MS);
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export function Toasts() {
  const text = useSyncExternalStore(subscribe, () => shown);
  return (
    <div role="status" className={styles.place}>
      {text !== "" && <span className={styles.toast}>{text}</span>}
    </div>
  );
}

import type { ReactNode } from "react";
import { Icon } from "../icon.tsx";
import styles from "./notice.module.css";

/** A state of the whole page that the reader must know about, in words. */
export function Notice({ tone, title, children }: { tone: "warn" | "info"; title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className={`${styles.notice} ${styles[tone]}`}>
      <Icon name={tone} />
      <div>
        <h2>{title}</h2>
        {children}
      </div>
    </section>
  );
}

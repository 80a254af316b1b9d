import type { ReactNode } from "react";
import styles from "./hidden.module.css";

/** For screen readers alone: what others see as a colour, an icon or a drawing. */
export function Hidden({ children }: { children: ReactNode }) {
  return <span className={styles.hidden}>{children}</span>;
}

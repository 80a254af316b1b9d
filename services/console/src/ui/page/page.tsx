import { type ReactNode, useEffect } from "react";
import styles from "./page.module.css";

interface PageProps {
  title: string;
  /** What belongs to the whole page, such as its one primary action. */
  actions?: ReactNode;
  /** Filters and order. */
  toolbar?: ReactNode;
  children: ReactNode;
  /** An open object beside the page's own content. */
  panel?: ReactNode;
}

export function Page({ title, actions, toolbar, children, panel }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Toolgate`;
  }, [title]);
  return (
    <div className={panel ? `${styles.page} ${styles.split}` : styles.page}>
      <section className={styles.main} aria-label={title}>
        <header className={styles.header}>
          <h1>{title}</h1>
          <div className={styles.actions}>{actions}</div>
        </header>
        {toolbar && <div className={styles.toolbar}>{toolbar}</div>}
        {children}
      </section>
      {panel}
    </div>
  );
}

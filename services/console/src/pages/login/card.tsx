import { type ReactNode, useEffect } from "react";
import styles from "./login.module.css";

/** A page for people who are not signed in. */
export function Card({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Toolgate`;
  }, [title]);
  return (
    <main className={styles.page}>
      <div className={styles.card}>
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  );
}

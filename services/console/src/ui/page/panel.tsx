import { type ReactNode, useEffect, useRef } from "react";
import { Button } from "../button.tsx";
import { Icon } from "../icon.tsx";
import { useShortcut } from "../shortcuts.ts";
import styles from "./panel.module.css";

interface PanelProps {
  title: string;
  actions?: ReactNode;
  onClose: () => void;
  children: ReactNode;
}

/** The object that is open beside a list. On a narrow screen it covers the list. Escape closes it. */
export function Panel({ title, actions, onClose, children }: PanelProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useShortcut("Escape", onClose);
  useEffect(() => {
    // A dialog that was opened while the page loaded keeps the focus.
    if (!document.querySelector("[role=dialog]")) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <aside className={styles.panel} aria-label={title}>
      <header className={styles.header}>
        <h2 ref={heading} tabIndex={-1}>
          {title}
        </h2>
        <Button kind="quiet" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </Button>
      </header>
      {actions && <div className={styles.actions}>{actions}</div>}
      <div className={styles.body}>{children}</div>
    </aside>
  );
}

/** A part of a panel under a heading. */
export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={styles.section}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

/** Facts about an object, each with its name. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className={styles.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

import { Link } from "@tanstack/react-router";
import styles from "./tabs.module.css";

interface TabsProps {
  label: string;
  tabs: readonly (readonly [id: string, label: string, ...unknown[]])[];
  current: string;
}

/** The parts of an object's page. The one that is open is `tab` in the URL. */
export function Tabs({ label, tabs, current }: TabsProps) {
  return (
    <nav aria-label={label} className={styles.tabs}>
      {tabs.map(([id, text]) => (
        <Link key={id} to="." search={{ tab: id } as never} aria-current={id === current ? "page" : undefined}>
          {text}
        </Link>
      ))}
    </nav>
  );
}

import { Icon, type IconName } from "./icon.tsx";
import styles from "./status.module.css";

export type Tone = "good" | "bad" | "warn" | "dim";

const ICONS: Readonly<Record<Tone, IconName>> = { good: "ok", bad: "bad", warn: "wait", dim: "off" };

/** A status is an icon, a word and a colour. */
export function Status({ tone, icon = ICONS[tone], children }: { tone: Tone; icon?: IconName; children: string }) {
  return (
    <span className={`${styles.status} ${styles[tone]}`}>
      <Icon name={icon} />
      {children}
    </span>
  );
}

import type { ComponentProps } from "react";
import styles from "./button.module.css";

type Kind = "primary" | "plain" | "quiet" | "danger";

/** `pending` keeps the button's place and focus while its work is under way. */
export function Button({
  kind = "plain",
  pending = false,
  className = "",
  onClick,
  ...props
}: ComponentProps<"button"> & { kind?: Kind; pending?: boolean }) {
  return (
    <button
      type="button"
      {...props}
      aria-disabled={pending || undefined}
      onClick={pending ? (event) => event.preventDefault() : onClick}
      className={`${styles.button} ${styles[kind] ?? ""} ${className}`}
    />
  );
}

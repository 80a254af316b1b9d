import type { ReactNode } from "react";

interface ScrollTextProps {
  label: string;
  className?: string | undefined;
  children: ReactNode;
}

/** Preformatted text that may scroll. */
export function ScrollText({ label, className, children }: ScrollTextProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <pre role="region" aria-label={label} tabIndex={0} className={className}>
      {children}
    </pre>
  );
}

import { safeHtml } from "@toolgate/chat-widget/safe-html";
import { useLayoutEffect, useRef } from "react";
import styles from "./conversation.module.css";

/** The assistant's HTML, through the sanitizer of the widget. */
export function AnswerHtml({ html }: { html: string }) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => place.current?.replaceChildren(safeHtml(html)), [html]);
  return <div ref={place} className={styles.html} />;
}

import { Link } from "@tanstack/react-router";
import type { GetOverviewResponse } from "@toolgate/gen/toolgate/gateway/v1/overview_pb";
import { Fragment } from "react";
import { countText, FIXES, OVERVIEW, PARTS, unansweredText } from "../../text/en/overview.ts";
import { useNow } from "../../ui/clock.ts";
import { Icon } from "../../ui/icon.tsx";
import { Part } from "../../ui/page/part.tsx";
import { attentionOf, type Item } from "./attention.ts";
import styles from "./overview.module.css";

/** Of each kind; the page of the kind shows the rest. */
const MAX_SHOWN = 3;

export function AttentionList({ overview }: { overview: GetOverviewResponse }) {
  const kinds = attentionOf(overview, useNow()).filter(({ items }) => items.length > 0);
  const unanswered = unansweredParts(overview);
  return (
    <Part title={OVERVIEW.attention}>
      {kinds.length === 0 && unanswered.length === 0 && (
        <p className={`${styles.row} ${styles.good}`}>
          <Icon name="ok" />
          <span>{OVERVIEW.nothing}</span>
        </p>
      )}
      <ul className={styles.list}>
        {kinds.map(({ items, isMore, more, to, search }) => (
          <Fragment key={more}>
            {items.slice(0, MAX_SHOWN).map((item) => (
              <Row key={item.key} item={item} />
            ))}
            {items.length > MAX_SHOWN && (
              <li className={`${styles.row} ${styles.dim}`}>
                <Icon name="more" />
                <span>
                  {countText(items.length - MAX_SHOWN, isMore)} {more}{" "}
                  <Link to={to} search={search}>
                    {FIXES.more}
                  </Link>
                </span>
              </li>
            )}
          </Fragment>
        ))}
        {unanswered.map((part) => (
          <li key={part} className={`${styles.row} ${styles.dim}`}>
            <Icon name="info" />
            <span>{unansweredText(part)}</span>
          </li>
        ))}
      </ul>
    </Part>
  );
}

function unansweredParts(overview: GetOverviewResponse): string[] {
  const parts = (Object.keys(PARTS) as (keyof typeof PARTS)[]).filter((name) => overview[name] === undefined);
  // key-auth asks tool-runner which tools are released.
  if (overview.keys?.toolsUnchecked && !parts.includes("tools")) parts.push("tools");
  return parts.map((name) => PARTS[name]);
}

function Row({ item: { tone, subject, text, fix, to, search } }: { item: Item }) {
  return (
    <li className={`${styles.row} ${styles[tone]}`}>
      <Icon name="warn" />
      <span>
        <strong>{subject}</strong> {text}{" "}
        <Link to={to} search={search}>
          {fix}
        </Link>
      </span>
    </li>
  );
}

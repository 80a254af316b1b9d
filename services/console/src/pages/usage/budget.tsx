import type { ChatSettings } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import { useState } from "react";
import { USAGE } from "../../text/en/assistants/chats.ts";
import { Button } from "../../ui/button.tsx";
import { Part } from "../../ui/page/part.tsx";
import { Status } from "../../ui/status.tsx";
import { ChatSettingsDialog } from "./chat-settings.tsx";
import styles from "./usage.module.css";

/** How much of today's budget is used, and which sites may chat. */
export function Budget({ settings, onChanged }: { settings: ChatSettings; onChanged: () => void }) {
  const [isEditing, setEditing] = useState(false);
  const { tokensPerDay, tokensToday, allowedOrigins } = settings;
  const hasBudget = tokensPerDay > 0n;
  return (
    <Part title={USAGE.today}>
      <p>{hasBudget ? USAGE.usedOf(tokensToday, tokensPerDay) : `${USAGE.used(tokensToday)}. ${USAGE.noBudget}`}</p>
      {hasBudget && (
        <meter
          className={styles.meter}
          aria-label={USAGE.budget}
          min={0}
          max={Number(tokensPerDay)}
          value={Math.min(Number(tokensToday), Number(tokensPerDay))}
        />
      )}
      {hasBudget && tokensToday >= tokensPerDay && <Status tone="bad">{USAGE.exceeded}</Status>}
      <p>
        {USAGE.sites}: {allowedOrigins.join(", ") || USAGE.noSites}
      </p>
      <div>
        <Button onClick={() => setEditing(true)}>{USAGE.edit}</Button>
      </div>
      {isEditing && <ChatSettingsDialog of={settings} onClose={() => setEditing(false)} onChanged={onChanged} />}
    </Part>
  );
}

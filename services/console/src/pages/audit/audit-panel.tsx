import { Link } from "@tanstack/react-router";
import type { AuditEntry, FieldChange } from "@toolgate/gen/toolgate/key_auth/v1/audit_pb";
import { AUDIT, whatHappened } from "../../text/en/audit.ts";
import { Facts, Panel, Section } from "../../ui/page/panel.tsx";
import { Time } from "../../ui/time.tsx";
import styles from "./audit.module.css";

interface AuditPanelProps {
  entry: AuditEntry;
  onClose: () => void;
}

/** Where the objects of an action are, by the first word of the action. */
const PAGES: Readonly<Record<string, string>> = {
  key: "/api-keys",
  endpoint: "/webhooks",
  hook: "/webhooks/hooks",
  role: "/members",
};

/** Who did it: the email address of a user, or an operator. */
export function actorOf({ actor }: Pick<AuditEntry, "actor">): string {
  return actor === "operator" ? AUDIT.operator : actor;
}

export function AuditPanel({ entry, onClose }: AuditPanelProps) {
  const { action, target, targetId, at, changes } = entry;
  return (
    <Panel title={whatHappened(entry)} onClose={onClose}>
      <Facts
        facts={[
          [AUDIT.who, <ActorLinks key="who" entry={entry} />],
          [AUDIT.when, <Time key="when" at={at} exact />],
          [AUDIT.action, <code key="action">{action}</code>],
          [AUDIT.target, <ObjectLinks key="object" entry={entry} />],
          ...(targetId === "" || targetId === target ? [] : [[AUDIT.id, <code key="id">{targetId}</code>] as const]),
        ]}
      />
      <Section title={AUDIT.changes}>
        <Changes changes={changes} />
      </Section>
    </Panel>
  );
}

function ActorLinks({ entry }: { entry: AuditEntry }) {
  return (
    <span className={styles.links}>
      <span>{actorOf(entry)}</span>
      <Link to="/audit" search={{ actor: entry.actor }}>
        {AUDIT.byThem}
      </Link>
    </span>
  );
}

function ObjectLinks({ entry: { action, target, targetId } }: { entry: AuditEntry }) {
  const kind = action.split(".")[0] ?? "";
  const page = PAGES[kind];
  return (
    <span className={styles.links}>
      <span>{target}</span>
      {kind === "tool" && (
        <Link to="/tools/$name" params={{ name: targetId }}>
          {AUDIT.openObject}
        </Link>
      )}
      {page && (
        <Link to={page} search={{ open: targetId } as never}>
          {AUDIT.openObject}
        </Link>
      )}
      {targetId !== "" && (
        <Link to="/audit" search={{ target: targetId }}>
          {AUDIT.history}
        </Link>
      )}
    </span>
  );
}

function Changes({ changes }: { changes: readonly FieldChange[] }) {
  if (changes.length === 0) return <p className={styles.dim}>{AUDIT.noChanges}</p>;
  if (changes.every(({ beforeJson, afterJson }) => beforeJson === "" && afterJson === "")) {
    return (
      <>
        <p>{changes.map(({ field }) => field).join(", ")}</p>
        <p className={styles.dim}>{AUDIT.onlyNames}</p>
      </>
    );
  }
  return (
    <table className={styles.changes}>
      <thead>
        <tr>
          <th>{AUDIT.field}</th>
          <th>{AUDIT.before}</th>
          <th>{AUDIT.after}</th>
        </tr>
      </thead>
      <tbody>
        {changes.map(({ field, beforeJson, afterJson }) => (
          <tr key={field}>
            <td>{field}</td>
            <td>{valueText(beforeJson)}</td>
            <td>{valueText(afterJson)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A value as people write it: texts without quotes, lists with commas. */
function valueText(json: string): string {
  if (json === "") return AUDIT.nothing;
  const value: unknown = JSON.parse(json);
  if (Array.isArray(value)) return value.length === 0 ? AUDIT.nothing : value.map(String).join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
}

import { Link } from "@tanstack/react-router";
import type { Hook, HookTarget } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { HOOKS, MAPPING } from "../../text/en/webhooks/hooks.ts";
import { Section } from "../../ui/page/panel.tsx";
import { Time } from "../../ui/time.tsx";
import { HookStatus, targetText } from "./hook-status.tsx";
import styles from "./hooks.module.css";
import { sourceOf } from "./mapping/pointers.ts";
import { formatOf } from "./providers.ts";

export function factsOf(hook: Hook) {
  const { limit, toleranceSeconds, deliveriesLast24h: all, failedLast24h: failed } = hook;
  return [
    ["Status", <HookStatus key="status" of={hook} />],
    [HOOKS.target, <TargetLink key="target" target={hook.target} />],
    ["Called by", formatOf(hook)],
    ["URL", <code key="url">{hook.shownUrl}</code>],
    ["Limit", `${limit.toLocaleString("en")} calls per minute`],
    ...(toleranceSeconds > 0 ? ([["Tolerance", `${toleranceSeconds} s`]] as const) : []),
    ["Last received", <Time key="received" at={hook.lastReceivedAt} />],
    ["In 24 h", `${all.toLocaleString("en")} accepted, ${failed.toLocaleString("en")} failed`],
    ["Created", <Time key="created" at={hook.createdAt} exact />],
    [
      "Saved",
      <span key="saved">
        <Time at={hook.savedAt} exact />
        {hook.savedBy && ` by ${hook.savedBy}`}, version {hook.version}
      </span>,
    ],
    ["Id", <code key="id">{String(hook.id)}</code>],
  ] as const;
}

function TargetLink({ target }: { target: HookTarget | undefined }) {
  const { case: kind, value = "" } = target?.target ?? {};
  if (kind !== "tool") return targetText(target);
  return (
    <>
      tool{" "}
      <Link to="/tools/$name" params={{ name: value }}>
        {value}
      </Link>
    </>
  );
}

interface HookPointersProps {
  of: Hook;
  title?: string;
  hint?: string;
}

/** Where the target's arguments come from. */
export function HookPointers({ of, title = HOOKS.arguments, hint }: HookPointersProps) {
  const { from, rows } = sourceOf(of.arguments);
  return (
    <Section title={title}>
      {hint && <p className={styles.dim}>{hint}</p>}
      <p>{MAPPING[from]}.</p>
      {rows.length > 0 && (
        <dl className={styles.pointers}>
          {rows.map(({ argument, pointer }) => (
            <div key={argument}>
              <dt>{argument}</dt>
              <dd>
                <code>{pointer === "" ? MAPPING.wholeBody : pointer}</code>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </Section>
  );
}

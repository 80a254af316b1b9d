import { Link } from "@tanstack/react-router";
import type { HookRun } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_delivery_pb";
import { HOOK_LOG } from "../../text/en/webhooks/hook-log.ts";
import { BodyView } from "../../ui/code/body-view.tsx";
import { Facts, Section } from "../../ui/page/panel.tsx";
import { Time } from "../../ui/time.tsx";
import { DeliveryStatus } from "./delivery-status.tsx";
import styles from "./hook-log.module.css";

/** Every start of the target, the last one first. */
export function RunList({ runs }: { runs: readonly HookRun[] }) {
  return (
    <Section title={HOOK_LOG.runs}>
      {runs.length === 0 && <p className={styles.dim}>{HOOK_LOG.noRuns}</p>}
      <ol className={styles.runs} reversed>
        {runs.toReversed().map((run) => (
          <li key={run.number}>
            <Run of={run} />
          </li>
        ))}
      </ol>
    </Section>
  );
}

function Run({ of }: { of: HookRun }) {
  const { number, status, startedAt, durationMs, argsJson, result, error, executionId, chatId, requestedBy } = of;
  const facts = [
    ["Status", <DeliveryStatus key="status" status={status} />],
    ["Started", <Time key="started" at={startedAt} exact />],
    ...(durationMs > 0 ? ([["Duration", `${durationMs} ms`]] as const) : []),
    ...(requestedBy !== "" ? ([["Requested by", requestedBy]] as const) : []),
    ...(error !== "" ? ([[HOOK_LOG.error, error]] as const) : []),
    ...(chatId !== "" ? ([["Chat", <code key="chat">{chatId}</code>]] as const) : []),
  ] as const;
  return (
    <article className={styles.run} aria-label={`Run ${number}`}>
      <header className={styles.runHeader}>
        <h4>Run {number}</h4>
        {executionId !== "" && (
          <Link to="/runs" search={{ open: executionId }}>
            {HOOK_LOG.execution}
          </Link>
        )}
      </header>
      <Facts facts={facts} />
      {argsJson !== "" && <Value title={HOOK_LOG.arguments} of={number} text={argsJson} />}
      {result !== "" && <Value title={chatId === "" ? HOOK_LOG.result : HOOK_LOG.reply} of={number} text={result} />}
    </article>
  );
}

function Value({ title, of, text }: { title: string; of: number; text: string }) {
  return (
    <>
      <h5>{title}</h5>
      <BodyView
        label={`${title} of run ${of}`}
        body={text}
        fileName={`run-${of}-${title.toLowerCase()}.txt`}
        formatted
      />
    </>
  );
}

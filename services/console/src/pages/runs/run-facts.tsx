import { Link } from "@tanstack/react-router";
import type { Execution } from "@toolgate/gen/toolgate/tool_runner/v1/execution_pb";
import type { ReactNode } from "react";
import { RUNS } from "../../text/en/tools/runs.ts";
import { Facts } from "../../ui/page/panel.tsx";
import { Time } from "../../ui/time.tsx";
import { REQUEST_PAGES } from "../shell/request-pages.ts";
import { callerOf, type KeyNames, RunOutcome } from "./run-columns.tsx";
import styles from "./runs.module.css";

/** What is known about a run, each with a way to what it belongs to. */
export function RunFacts({ run, keys }: { run: Execution; keys: KeyNames }) {
  const facts: (readonly [string, ReactNode])[] = [
    ["Outcome", <RunOutcome key="outcome" {...run} />],
    ["Caller", <Caller key="caller" run={run} keys={keys} />],
    ["Started", <Time key="started" at={run.startedAt} exact />],
    ["Version", <Version key="version" run={run} />],
    ["Access", run.readOnly ? RUNS.readOnly : RUNS.mayWrite],
    ["Run", <code key="id">{run.id}</code>],
  ];
  if (run.parentId !== "") facts.push(["Called by", <Parent key="parent" run={run} />]);
  if (run.chatId !== "") facts.push(["Chat", <code key="chat">{run.chatId}</code>]);
  if (run.requestId !== "") facts.push(["Request", <Request key="request" id={run.requestId} />]);
  return <Facts facts={facts} />;
}

function Caller({ run, keys }: { run: Execution; keys: KeyNames }) {
  const name = callerOf(run, keys);
  const target = { api_key: "/api-keys", hook: "/webhooks/hooks" }[run.entryType];
  return (
    <span className={styles.links}>
      {target ? (
        <Link to={target} search={{ open: run.callerId } as never}>
          {name}
        </Link>
      ) : (
        name
      )}
      {run.callerId !== "" && (
        <Link to="/runs" search={{ caller: run.callerId }}>
          {RUNS.runsOfCaller}
        </Link>
      )}
    </span>
  );
}

function Version({ run: { tool, toolVersion } }: { run: Execution }) {
  if (toolVersion === 0) return RUNS.draft;
  return (
    <Link to="/tools/$name" params={{ name: tool }} search={{ tab: "versions", version: toolVersion }}>
      {toolVersion}
    </Link>
  );
}

function Parent({ run }: { run: Execution }) {
  return (
    <Link to="/runs" search={(before) => ({ ...before, open: run.parentId })}>
      {RUNS.parent}
    </Link>
  );
}

function Request({ id }: { id: string }) {
  return (
    <>
      <code>{id}</code>
      <ul className={styles.links}>
        {REQUEST_PAGES.map(({ to, label, filter }) => (
          <li key={to}>
            <Link to={to} search={{ [filter]: id } as never}>
              {label}
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}

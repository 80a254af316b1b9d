import { useQuery } from "@connectrpc/connect-query";
import { type Execution, ExecutionService } from "@toolgate/gen/toolgate/tool_runner/v1/execution_pb";
import { useMemo } from "react";
import { failureOf } from "../../rpc/errors.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import { milliseconds, RUNS } from "../../text/en/tools/runs.ts";
import { ScrollText } from "../../ui/code/scroll-text.tsx";
import { FailureText } from "../../ui/page/failure.tsx";
import { Panel, Section } from "../../ui/page/panel.tsx";
import { LoggedValue } from "./logged-value.tsx";
import type { KeyNames } from "./run-columns.tsx";
import { RunFacts } from "./run-facts.tsx";
import styles from "./runs.module.css";
import { timelineOf } from "./timeline.ts";
import { Waterfall } from "./waterfall.tsx";

interface RunPanelProps {
  runId: string;
  keys: KeyNames;
  onClose: () => void;
}

export function RunPanel({ runId, keys, onClose }: RunPanelProps) {
  const workspace = useWorkspace();
  const { data, error, refetch } = useQuery(ExecutionService.method.getExecution, { workspace, executionId: runId });
  const run = data?.execution;
  const steps = useMemo(() => (run ? timelineOf(run, data.children) : []), [data]);
  return (
    <Panel title={run ? `${RUNS.run} ${run.tool}` : RUNS.title} onClose={onClose}>
      {error && <FailureText failure={failureOf(error)} onRetry={() => void refetch()} />}
      {run && (
        <>
          <Sentence run={run} />
          <RunFacts run={run} keys={keys} />
          <Section title={RUNS.timeline}>
            <Waterfall steps={steps} open={run.id} />
            {data.hasMoreChildren && <p className={styles.dim}>{RUNS.moreNested}</p>}
          </Section>
          {isMoreThanSentence(run.error) && (
            <Section title={RUNS.error}>
              <ScrollText label={RUNS.error} className={styles.text}>
                {run.error}
              </ScrollText>
            </Section>
          )}
          <Section title={RUNS.arguments}>
            <LoggedValue label={RUNS.arguments} json={run.argsJson} fileName={`arguments-${run.id}.json`} />
          </Section>
          {(run.success || run.resultJson !== "null") && (
            <Section title={RUNS.result}>
              <LoggedValue label={RUNS.result} json={run.resultJson} fileName={`result-${run.id}.json`} />
            </Section>
          )}
          <Section title={RUNS.logs}>
            {run.logs.length === 0 && <p className={styles.dim}>{RUNS.noLogs}</p>}
            {run.logs.length > 0 && (
              <ScrollText label={RUNS.logs} className={styles.text}>
                {run.logs.join("\n")}
              </ScrollText>
            )}
          </Section>
        </>
      )}
    </Panel>
  );
}

const SENTENCE_CHARACTERS = 300;

function isMoreThanSentence(error: string): boolean {
  return error.includes("\n") || error.length > SENTENCE_CHARACTERS;
}

function Sentence({ run }: { run: Execution }) {
  const reason = run.error.split("\n", 1)[0]?.slice(0, SENTENCE_CHARACTERS) ?? "";
  return (
    <p className={styles.sentence}>
      <code>{run.tool}</code> {run.success ? RUNS.succeededAfter : RUNS.failedAfter} {milliseconds(run.durationMs)}
      {run.success ? "." : `: ${reason}`}
    </p>
  );
}

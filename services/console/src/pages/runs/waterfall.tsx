import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { HOST_CALL_ERRORS, HOST_CALL_NAMES, milliseconds, RUNS } from "../../text/en/tools/runs.ts";
import { Button } from "../../ui/button.tsx";
import { Hidden } from "../../ui/hidden.tsx";
import { Icon } from "../../ui/icon.tsx";
import { endOf, type Step } from "./timeline.ts";
import styles from "./waterfall.module.css";

const STEPS_FIRST = 200;
const INDENT_PX = 14;

/** What a run did and when, as a table whose last column draws the times. */
export function Waterfall({ steps, open }: { steps: readonly Step[]; open: string }) {
  const [isWhole, setWhole] = useState(false);
  const total = endOf(steps);
  const shown = isWhole ? steps : steps.slice(0, STEPS_FIRST);
  return (
    <>
      <table className={styles.waterfall} aria-label={RUNS.timeline}>
        <thead>
          <tr>
            <th>{RUNS.what}</th>
            <th className={styles.number}>{RUNS.start}</th>
            <th className={styles.number}>{RUNS.took}</th>
            <td aria-hidden="true" />
          </tr>
        </thead>
        <tbody>
          {shown.map((step) => (
            <tr key={step.key}>
              <td style={{ paddingLeft: step.level * INDENT_PX }}>
                <What step={step} open={open} />
              </td>
              <td className={styles.number}>
                {step.startMs === undefined ? RUNS.unknownStart : `+${milliseconds(step.startMs)}`}
              </td>
              <td className={styles.number}>{milliseconds(step.durationMs)}</td>
              <td className={styles.track} aria-hidden="true">
                <Bar step={step} total={total} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < steps.length && <Button onClick={() => setWhole(true)}>{RUNS.wholeTimeline}</Button>}
    </>
  );
}

function hasFailed({ run, call }: Step): boolean {
  return run ? !run.success : call?.errorCode !== "";
}

function What({ step, open }: { step: Step; open: string }) {
  const { run, call } = step;
  const mark = hasFailed(step) && (
    <span className={styles.failed}>
      <Icon name="bad" />
      <Hidden>{RUNS.failed}</Hidden>
    </span>
  );
  if (run) {
    const isOpen = run.id === open;
    return (
      <>
        {mark}
        {isOpen ? (
          <strong>{run.tool}</strong>
        ) : (
          <Link to="/runs" search={(before) => ({ ...before, open: run.id })}>
            {run.tool}
          </Link>
        )}
      </>
    );
  }
  if (!call) return null;
  const note = call.errorCode === "" ? "" : (HOST_CALL_ERRORS[call.errorCode] ?? call.errorCode);
  return (
    <>
      {mark}
      <span className={styles.call}>{HOST_CALL_NAMES[call.name] ?? call.name}</span> {call.target}
      {note && <span className={styles.failed}> {note}</span>}
      {call.recorded && <span className={styles.call}> {RUNS.recorded}</span>}
    </>
  );
}

function Bar({ step, total }: { step: Step; total: number }) {
  if (step.startMs === undefined) return null;
  const share = (ms: number) => `${(Math.max(0, ms) / total) * 100}%`;
  const kind = hasFailed(step) ? styles.bad : step.run ? styles.run : styles.host;
  return (
    <div
      className={`${styles.bar} ${kind}`}
      style={{ marginLeft: share(step.startMs), width: share(step.durationMs) }}
    />
  );
}

import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Link } from "@tanstack/react-router";
import type { GetOverviewResponse } from "@toolgate/gen/toolgate/gateway/v1/overview_pb";
import { OVERVIEW, STEPS } from "../../text/en/overview.ts";
import { useNow } from "../../ui/clock.ts";
import { Part } from "../../ui/page/part.tsx";
import { Status } from "../../ui/status.tsx";
import styles from "./overview.module.css";

const NEW_FOR_MS = 30 * 86_400_000;

/** What a new workspace does first. */
export function FirstSteps({ overview }: { overview: GetOverviewResponse }) {
  const { keys, tools, endpoints } = overview;
  const now = useNow();
  const steps = [
    { step: "release", isDone: tools?.hasReleasedTool, to: "/tools" },
    { step: "key", isDone: keys?.hasKey, to: "/api-keys" },
    { step: "call", isDone: keys?.hasCall, to: "/reference" },
    { step: "endpoint", isDone: endpoints?.hasEndpoint, to: "/webhooks" },
    { step: "test", isDone: endpoints?.hasTest, to: "/webhooks" },
  ] as const;
  const { hasCall = true, workspaceCreatedAt } = keys ?? {};
  const isNew = !hasCall || (workspaceCreatedAt && now - timestampMs(workspaceCreatedAt) < NEW_FOR_MS);
  if (!isNew || steps.every(({ isDone }) => isDone)) return null;
  return (
    <Part title={OVERVIEW.first}>
      <p className={styles.dimText}>{OVERVIEW.firstText}</p>
      <ol className={styles.list}>
        {steps.map(({ step, isDone, to }) => (
          <li key={step} className={styles.step}>
            <span className={styles.state}>
              {isDone === undefined ? (
                <Status tone="warn">{OVERVIEW.notAvailable}</Status>
              ) : (
                <Status tone={isDone ? "good" : "dim"} icon={isDone ? "ok" : "wait"}>
                  {isDone ? OVERVIEW.done : OVERVIEW.open}
                </Status>
              )}
            </span>
            <Link to={to}>{STEPS[step]}</Link>
          </li>
        ))}
      </ol>
    </Part>
  );
}

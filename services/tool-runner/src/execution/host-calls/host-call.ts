import type { Outbox } from "@toolgate/event-bus/outbox";
import type { Pool } from "@toolgate/postgres/pool";
import type { SafeFetch } from "@toolgate/safe-fetch/fetch";
import type { SendMail } from "@toolgate/service-host/mailer";
import type { DataSources } from "../data-sources/data-sources.ts";
import { ToolError } from "../errors.ts";
import { type HostCallEntry, type Run, type RunScope, truncated } from "../run.ts";
import type { Definitions } from "../workspace/definitions.ts";
import type { WorkspaceValues } from "../workspace/workspace-values.ts";
import type { HostCallSlots } from "./slots.ts";

/** What host calls work with. */
export interface HostDependencies {
  pool: Pool;
  definitions: Definitions;
  dataSources: DataSources;
  safeFetch: SafeFetch;
  values: WorkspaceValues;
  slots: HostCallSlots;
  outbox: Outbox;
  now: () => number;
  /** Undefined in an installation without a mail server. */
  sendMail: SendMail | undefined;
}

/** The run that makes a host call, and the call. */
export interface HostCallContext {
  tool: string;
  scope: RunScope;
  entry: HostCallEntry;
  /** Ends when the run ends. */
  signal: AbortSignal;
}

const MAX_ENTRIES = 100;
const MAX_TARGET_CHARS = 200;

/** Measures a host call and adds it to the run's entries. `work` sets the target as soon as it knows it. */
export async function logged<T>(
  { hostCalls, startedMs }: Pick<Run, "hostCalls" | "startedMs">,
  name: string,
  work: (entry: HostCallEntry) => Promise<T>,
): Promise<T> {
  const started = performance.now();
  const entry: HostCallEntry = {
    name,
    target: "",
    started_after_ms: Math.round(started - startedMs),
    duration_ms: 0,
    error_code: "",
    recorded: false,
  };
  try {
    return await work(entry);
  } catch (error) {
    entry.recorded = false;
    entry.error_code = error instanceof ToolError ? error.code : "FAILED";
    throw error;
  } finally {
    entry.duration_ms = Math.round(performance.now() - started);
    entry.target = truncated(entry.target, MAX_TARGET_CHARS);
    if (hostCalls.length < MAX_ENTRIES) hostCalls.push(entry);
  }
}

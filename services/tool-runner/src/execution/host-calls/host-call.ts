import type { Outbox } from "@toolgate/event-bus/outbox";
import type { Pool } from "@toolgate/postgres/pool";
import type { SafeFetch } from "@toolgate/safe-fetch/fetch";
import type { SendMail } from "@toolgate/service-host/mailer";
import type { HostCallEntry } from "../../domain/host-functions.ts";
import type { DataSources } from "../data-sources/data-sources.ts";
import type { RunScope } from "../run.ts";
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

import { calls } from "./calls.ts";
import { chat } from "./chat.ts";
import { deliveries } from "./deliveries.ts";
import { hooks } from "./hooks.ts";
import { overview } from "./overview.ts";
import type { Dashboard } from "./panel.ts";
import { processes } from "./processes.ts";
import { sandbox } from "./sandbox.ts";

export const DASHBOARDS: readonly Dashboard[] = [overview, calls, deliveries, hooks, chat, sandbox, processes];

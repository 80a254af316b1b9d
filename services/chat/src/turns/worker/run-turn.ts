import { setTimeout as sleep } from "node:timers/promises";
import type { GroupCommit } from "@toolgate/event-bus/group-commit";
import type { Pool } from "@toolgate/postgres/pool";
import type { CallBuilderTool } from "../../clients/builder-tools.ts";
import type { DescribeTools } from "../../clients/describe-tools.ts";
import type { ModelOf } from "../../clients/models.ts";
import { BUILDER_NAME } from "../../domain/assistants/builder.ts";
import { BUILDER_TOOLS } from "../../domain/assistants/builder-tools.ts";
import { isReleasedForHooks, runsReadOnlyForHooks } from "../../domain/assistants/exposure.ts";
import { type Ending, INTERNAL, MAX_ATTEMPTS } from "../../domain/turn.ts";
import type { Files } from "../../files/files.ts";
import type { TurnQueues } from "../../store/queue.ts";
import type { ClaimedTurn } from "../../store/turns/claim.ts";
import { type LoadedTurn, loadTurn } from "../../store/turns/load.ts";
import type { TurnWrite } from "../../store/turns/write.ts";
import { readBudget } from "../../store/usage.ts";
import type { InQueue } from "../queue-slots.ts";
import type { Signals } from "../signals.ts";
import { answerTurn } from "./answer-turn.ts";
import { endRunningTurn } from "./end-turn.ts";
import type { LargeTurns, TurnSize } from "./large-turns.ts";
import type { RunningTurn } from "./running-turn.ts";
import { callTool, type RunTool } from "./tools.ts";
import { type TurnControl, TurnLeft } from "./turn-control.ts";
import { createTurnLog } from "./turn-log.ts";

/** What turns work with. */
export interface TurnDependencies {
  pool: Pool;
  queuePool: Pool;
  queues: TurnQueues;
  inQueue: InQueue;
  writer: Pick<GroupCommit<TurnWrite>, "add">;
  signals: Signals;
  largeTurns: LargeTurns;
  runTool: RunTool;
  describeTools: DescribeTools;
  callBuilderTool: CallBuilderTool;
  modelOf: ModelOf;
  files: Pick<Files, "read">;
  now: () => Date;
  onError: (error: unknown) => void;
}

const RETRY_MS = 250;

const NOT_RELEASED: Ending = {
  status: "failed",
  error: { code: "NOT_RELEASED", message: "The assistant is not released for hooks." },
};

/** Runs a claimed turn to its end, or until its control says to leave it. Never rejects. */
export async function runTurn(deps: TurnDependencies, claimed: ClaimedTurn, control: TurnControl): Promise<void> {
  using size = deps.largeTurns.of(claimed.workspaceId);
  const loaded = await loadWithRetries(deps, claimed, { control, size });
  if (!loaded) return;
  const log = createTurnLog(deps, { turn: claimed, start: loaded, control });
  const turn: RunningTurn = {
    ...loaded,
    claimed,
    control,
    log,
    size,
    tools: [],
    calls: new Map(loaded.calls.map((call) => [call.id, call])),
    uncounted: { inputTokens: 0, outputTokens: 0 },
  };
  let ending: Ending;
  try {
    ending = await answer(deps, turn, loaded);
  } catch (error) {
    const { left } = control;
    if (left === "lost" || left === "hand-over") return;
    if (left === undefined && !(error instanceof TurnLeft)) deps.onError(error);
    ending = left === "stop" ? { status: "stopped" } : INTERNAL;
  }
  await endRunningTurn(deps, turn, ending);
}

/** Loads the turn, again after a failure. Undefined when it is left before it is loaded. */
async function loadWithRetries(
  { queuePool, onError }: TurnDependencies,
  claimed: ClaimedTurn,
  { control, size }: { control: TurnControl; size: TurnSize },
): Promise<LoadedTurn | undefined> {
  let hasPlace = false;
  for (;;) {
    try {
      const onlyEnds = control.left === "stop" || claimed.stopRequested || claimed.attempt > MAX_ATTEMPTS;
      if (!onlyEnds && !hasPlace) await size.add(claimed.bytes, control.signal);
      hasPlace = true;
      return await loadTurn(queuePool, claimed, { onlyEnds });
    } catch (error) {
      if (!(error instanceof TurnLeft)) {
        onError(error);
        await sleep(RETRY_MS);
      }
      if (control.left === "lost" || control.left === "hand-over") return undefined;
    }
  }
}

async function answer(deps: TurnDependencies, turn: RunningTurn, { messages }: LoadedTurn): Promise<Ending> {
  const { pool, now } = deps;
  const { claimed, control, size } = turn;
  const { workspaceId, definition, servers, budget } = claimed;
  control.signal.throwIfAborted();
  if (claimed.stopRequested) return { status: "stopped" };
  if (claimed.attempt > MAX_ATTEMPTS) return INTERNAL;
  if (claimed.lane === "hook") {
    // [IN-58] Its assistant may have been changed since the turn was added.
    if (!isReleasedForHooks(definition)) return NOT_RELEASED;
    claimed.readOnly ||= runsReadOnlyForHooks(definition);
  }
  if (!definition) return INTERNAL;
  if (definition.models.length > 0 && servers.length === 0) return INTERNAL;
  const readsFiles = servers.some((server) => server.readsFiles);
  await size.add(readsFiles ? claimed.fileBytes : 0, control.signal);
  const isBuilder = claimed.assistant === BUILDER_NAME;
  const [tools, files] = await Promise.all([
    definition.tools.length > 0 ? deps.describeTools(workspaceId, definition.tools) : [],
    claimed.fileId === null ? [] : deps.files.read(claimed.fileId, { withData: readsFiles }),
  ]);
  turn.tools = isBuilder ? BUILDER_TOOLS : tools;
  return await answerTurn(turn, {
    definition,
    model: deps.modelOf(workspaceId, servers, isBuilder),
    messages,
    files,
    makeCall: (call) => (isBuilder ? deps.callBuilderTool(claimed, call) : callTool(deps.runTool, turn, call)),
    budget,
    readBudget: () => readBudget(pool, workspaceId, now()),
    now,
  });
}

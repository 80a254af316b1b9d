import { setTimeout as sleep } from "node:timers/promises";
import type { GroupCommit } from "@toolgate/event-bus/group-commit";
import type { Pool } from "@toolgate/postgres/pool";
import type { CallBuilderTool } from "../../clients/builder-tools.ts";
import type { ModelOf } from "../../clients/models.ts";
import { BUILDER_NAME } from "../../domain/assistants/builder.ts";
import { BUILDER_TOOLS } from "../../domain/assistants/builder-tools.ts";
import { isReleasedForHooks, runsReadOnlyForHooks } from "../../domain/assistants/exposure.ts";
import { type Ending, INTERNAL, MAX_ATTEMPTS } from "../../domain/turn.ts";
import type { ModelFile, ModelTool } from "../../models/model.ts";
import { readBudget } from "../../store/budget.ts";
import type { Lane } from "../../store/queue.ts";
import type { ClaimedTurn } from "../../store/turns/claim.ts";
import type { EndTurn } from "../../store/turns/end.ts";
import { type LoadedTurn, loadTurn, loadTurnToEnd } from "../../store/turns/load.ts";
import { sizeOfTurn } from "../../store/turns/size.ts";
import type { TurnWrite } from "../../store/turns/write.ts";
import type { PublishEvents } from "../live-events.ts";
import type { AnnounceTurns } from "../subjects.ts";
import { answerTurn } from "./answer-turn.ts";
import { endTurn } from "./end-turn.ts";
import type { LargeTurns, TurnSize } from "./large-turns.ts";
import { createRunningTurn, type RunningTurn } from "./running-turn.ts";
import { callsOfTools, type RunTool } from "./tools.ts";
import { type TurnControl, TurnLeft } from "./turn-control.ts";
import { createTurnLog } from "./turn-log.ts";

/** What turns work with. */
export interface TurnDependencies {
  pool: Pool;
  queuePool: Pool;
  writer: Pick<GroupCommit<TurnWrite>, "add">;
  publish: PublishEvents;
  announceTurns: AnnounceTurns;
  endTurn: Readonly<Record<Lane, EndTurn>>;
  largeTurns: LargeTurns;
  runTool: RunTool;
  describeTools(workspaceId: string, names: readonly string[]): Promise<ModelTool[]>;
  /** Makes the calls of the builder assistant. */
  callBuilderTool: CallBuilderTool;
  modelOf: ModelOf;
  /** The files of the turn's message; those without data are for models that read none. */
  readFiles(turn: ClaimedTurn, withData: boolean): Promise<ModelFile[]>;
  now: () => Date;
  onError: (error: unknown) => void;
}

const RETRY_MS = 250;

const NOT_RELEASED: Ending = {
  status: "failed",
  error: { code: "NOT_RELEASED", message: "The assistant is not released for hooks." },
};

/**
 * Runs a claimed turn to its end, or until its control says to leave it. Writes nothing before `stored`, the end of the
 * claim's commit. Never rejects.
 */
export async function runTurn(
  deps: TurnDependencies,
  claimed: ClaimedTurn,
  control: TurnControl,
  stored: Promise<void>,
): Promise<void> {
  using size = deps.largeTurns.of(claimed.workspaceId);
  const loaded = claimed.sources.loaded ?? (await loadWithRetries(deps, claimed, { control, size, stored }));
  if (!loaded) return;
  const { publish, writer, onError, now } = deps;
  const log = createTurnLog({ turn: claimed, start: loaded, stored, control, writer, publish, onError });
  const turn = createRunningTurn(claimed, loaded, { control, log, size });
  let result: { ending: Ending; suggestions: readonly string[] };
  try {
    result = await answer(deps, turn, loaded);
  } catch (error) {
    const { left } = control;
    if (left === "lost" || left === "hand-over") return;
    if (left === undefined && !(error instanceof TurnLeft)) onError(error);
    result = { ending: left === "stop" ? { status: "stopped" } : INTERNAL, suggestions: [] };
  }
  const onNext = () => deps.announceTurns(claimed.lane);
  const commit = deps.endTurn[claimed.lane];
  await endTurn({ endTurn: commit, publish, onNext, now, onError }, turn, result.ending, result.suggestions);
}

/** Loads the turn, again after a failure. Undefined when it was not stored, or is left before it is loaded. */
async function loadWithRetries(
  { queuePool, onError }: TurnDependencies,
  claimed: ClaimedTurn,
  { control, size, stored }: { control: TurnControl; size: TurnSize; stored: Promise<void> },
): Promise<LoadedTurn | undefined> {
  // Before that, other connections see neither the turn nor its message.
  await stored;
  let bytes: number | undefined;
  for (;;) {
    try {
      const onlyEnds = control.left === "stop" || claimed.stopRequested || claimed.attempt > MAX_ATTEMPTS;
      if (onlyEnds) return await loadTurnToEnd(queuePool, claimed);
      if (bytes === undefined) {
        bytes = await sizeOfTurn(queuePool, claimed);
        await size.add(bytes, control.signal);
      }
      return await loadTurn(queuePool, claimed);
    } catch (error) {
      if (!(error instanceof TurnLeft)) {
        onError(error);
        await sleep(RETRY_MS);
      }
      if (control.left === "lost" || control.left === "hand-over") return undefined;
    }
  }
}

async function answer(
  deps: TurnDependencies,
  turn: RunningTurn,
  loaded: LoadedTurn,
): Promise<{ ending: Ending; suggestions: readonly string[] }> {
  const { pool, now } = deps;
  const { claimed, control, size } = turn;
  const { workspaceId } = claimed;
  const { definition, servers, budget } = claimed.sources;
  control.signal.throwIfAborted();
  if (claimed.stopRequested) return { ending: { status: "stopped" }, suggestions: [] };
  if (claimed.attempt > MAX_ATTEMPTS) return { ending: INTERNAL, suggestions: [] };
  if (claimed.lane === "hook") {
    // [IN-58] Its assistant may have been changed since the turn was added.
    if (!isReleasedForHooks(definition)) return { ending: NOT_RELEASED, suggestions: [] };
    claimed.readOnly ||= runsReadOnlyForHooks(definition);
  }
  if (!definition) return { ending: INTERNAL, suggestions: [] };
  if (definition.models.length > 0 && servers.length === 0) return { ending: INTERNAL, suggestions: [] };
  const readsFiles = servers.some((server) => server.readsFiles);
  await size.add(readsFiles ? claimed.fileBytes : 0, control.signal);
  const isBuilder = claimed.assistant === BUILDER_NAME;
  const [tools, files] = await Promise.all([
    definition.tools.length > 0 ? deps.describeTools(workspaceId, definition.tools) : [],
    claimed.fileId === null ? [] : deps.readFiles(claimed, readsFiles),
  ]);
  turn.tools = isBuilder ? BUILDER_TOOLS : tools;
  const ending = await answerTurn(turn, {
    definition,
    model: deps.modelOf(workspaceId, servers, isBuilder),
    messages: loaded.messages,
    files,
    makeCall: isBuilder ? ({ claimed: by }, call) => deps.callBuilderTool(by, call) : callsOfTools(deps.runTool),
    budget,
    readBudget: () => readBudget(pool, workspaceId, now()),
    now,
  });
  return { ending, suggestions: definition.suggestions };
}

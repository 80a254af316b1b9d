import type { AssistantDefinition } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import { conversationOf, instructionsFor } from "../../domain/conversation.ts";
import { type CallRecord, type Ending, MAX_STEPS, type Step } from "../../domain/turn.ts";
import { type Model, ModelError, type ModelFile } from "../../models/model.ts";
import type { StoredMessage } from "../../store/turns/load.ts";
import type { Budget } from "../../store/usage.ts";
import type { RunningTurn } from "./running-turn.ts";
import { runStep } from "./step.ts";
import { type MakeCall, makeCalls } from "./tools.ts";

export interface AnswerSources {
  definition: AssistantDefinition;
  model: Model;
  messages: readonly StoredMessage[];
  files: readonly ModelFile[];
  makeCall: MakeCall;
  /** The budget when the turn was claimed; read again before each further step. */
  budget: Budget;
  readBudget: () => Promise<Budget>;
  now: () => Date;
}

/**
 * Answers the user: asks the model, makes the calls that it asks for, and asks it again, until it has nothing more to call.
 * Continues what an earlier worker has begun. Throws a TurnLeft when the turn is left.
 */
export async function answerTurn(turn: RunningTurn, sources: AnswerSources): Promise<Ending> {
  const { control, log, steps, size } = turn;
  const last = steps.at(-1);
  if (last) {
    await control.whileToolsRun(() => makeCalls(turn, sources.makeCall, last.number, last.calls));
    await size.add(bytesOf(turn, last), control.signal);
  }
  for (let { budget } = sources; ; budget = await sources.readBudget()) {
    control.signal.throwIfAborted();
    if (budget.perDay > 0 && budget.used >= budget.perDay) return BUDGET_EXCEEDED;
    const failed = lastCalls(turn).some(({ status }) => status !== "succeeded");
    let step: Step;
    try {
      step = await runStep(turn, sources.model, requestOf(turn, sources), sources.now);
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      return failed ? TOOL_FAILED : MODEL_FAILED;
    }
    if (step.calls.length === 0 || step.number >= MAX_STEPS) return endingOf(turn, step, failed);
    const { model, uncounted } = turn;
    turn.uncounted = { inputTokens: 0, outputTokens: 0 };
    steps.push(step);
    // The first calls of the step are committed together with it.
    const stored = log.append({ step: { ...step, model, ...uncounted } });
    stored.catch(() => {});
    await control.whileToolsRun(() => makeCalls(turn, sources.makeCall, step.number, step.calls));
    await stored;
    await size.add(bytesOf(turn, step), control.signal);
  }
}

const TOOL_FAILED: Ending = {
  status: "failed",
  error: { code: "TOOL_FAILED", message: "A tool failed, and the assistant could not answer without it." },
};
const MODEL_FAILED: Ending = {
  status: "failed",
  error: { code: "MODEL_FAILED", message: "The assistant's model did not answer. Please try again." },
};
const BUDGET_EXCEEDED: Ending = {
  status: "failed",
  error: { code: "BUDGET_EXCEEDED", message: "This workspace has used its tokens for today." },
};

function endingOf({ html }: RunningTurn, step: Step, toolFailed: boolean): Ending {
  if (step.html !== "") return { status: "completed" };
  if (toolFailed) return TOOL_FAILED;
  return html === "" ? MODEL_FAILED : { status: "completed" };
}

/** What a step with its calls adds to the next request. */
function bytesOf({ calls }: RunningTurn, { html, calls: asked }: Step): number {
  const results = asked.map(({ id, args }) => Buffer.byteLength(args) + Buffer.byteLength(calls.get(id)?.result ?? ""));
  return results.reduce((sum, bytes) => sum + bytes, Buffer.byteLength(html));
}

function lastCalls({ steps, calls }: RunningTurn): CallRecord[] {
  const asked = steps.at(-1)?.calls ?? [];
  return asked.flatMap(({ id }) => calls.get(id) ?? []);
}

function requestOf({ steps, calls, tools }: RunningTurn, { definition, messages, files }: AnswerSources) {
  return {
    instructions: instructionsFor(definition.instructions),
    messages: conversationOf({ messages, files, steps, calls }),
    // The calls of the last step would not be made.
    tools: steps.length + 1 >= MAX_STEPS ? [] : tools,
  };
}

import { turnFirstOutput } from "@toolgate/telemetry/instruments";
import { inSpan } from "@toolgate/telemetry/trace";
import { MAX_ANSWER_CHARACTERS, type Step, type StepCall } from "../../domain/turn.ts";
import type { Model, ModelRequest } from "../../models/model.ts";
import { type Answer, createAnswer } from "./answer.ts";
import type { RunningTurn } from "./running-turn.ts";

const MAX_TOOL_NAME_CHARACTERS = 64;
const CHARACTERS_PER_TOKEN = 4;

/**
 * Asks the model once, and streams its answer. The step and its tokens are not stored yet. Throws a ModelError, or a
 * TurnLeft when the turn is left; what was streamed by then is stored.
 */
export function runStep(turn: RunningTurn, model: Model, request: ModelRequest, now: () => Date): Promise<Step> {
  return inSpan("model", () => askModel(turn, model, request, now));
}

async function askModel(turn: RunningTurn, model: Model, request: ModelRequest, now: () => Date): Promise<Step> {
  const { claimed, control, log } = turn;
  const earlier = turn.steps.reduce((length, step) => length + step.html.length, 0);
  const streamed = turn.html.slice(earlier);
  const before = turn.html.slice(0, earlier);
  const separator = before === "" ? "" : "\n";
  const answer = createAnswer({
    log,
    now,
    streamed,
    separator,
    maxCharacters: MAX_ANSWER_CHARACTERS - before.length,
    onFirst() {
      const seconds = (now().getTime() - claimed.createdAt.getTime()) / 1000;
      if (before === "" && streamed === "") turnFirstOutput.record(seconds, { lane: claimed.lane });
    },
  });
  const number = turn.steps.length + 1;
  // The separator is not the model's.
  const partial = streamed === "" ? {} : { partial: streamed.slice(separator.length) };
  let calls: StepCall[];
  try {
    calls = await readAnswer(turn, model.stream({ ...request, ...partial }, control.signal), answer, {
      number,
      requestCharacters: () => charactersOf(request) + streamed.length,
    });
  } catch (error) {
    await (control.left === "hand-over" ? answer.leave() : answer.end());
    throw error;
  } finally {
    turn.html = before + answer.html;
  }
  await answer.end();
  turn.html = before + answer.html;
  return { number, html: answer.html, calls };
}

async function readAnswer(
  turn: RunningTurn,
  events: ReturnType<Model["stream"]>,
  answer: Answer,
  step: { number: number; requestCharacters: () => number },
): Promise<StepCall[]> {
  const streamedBefore = answer.html.length;
  let argsCharacters = 0;
  let started = false;
  let usage = { inputTokens: 0, outputTokens: 0 };
  const calls: StepCall[] = [];
  try {
    for await (const event of events) {
      if (event.kind === "started") {
        turn.model = event.model;
        started = true;
      }
      if (event.kind === "text") await answer.push(event.text);
      if (event.kind === "tool_call") {
        const id = `call_${turn.claimed.number}_${step.number}_${calls.length + 1}`;
        argsCharacters += event.args.length;
        const extra = { ...event.extra, id: event.id };
        calls.push({ id, tool: toolName(event.name), args: event.args.replaceAll("\0", ""), extra });
      }
      if (event.kind === "finished") usage = event.usage;
      if (answer.full || answer.html.length + argsCharacters > MAX_ANSWER_CHARACTERS) return [];
    }
    return calls;
  } finally {
    // An answer that was cut has been paid for as well, and one whose server does not count.
    if (started && usage.inputTokens + usage.outputTokens === 0) {
      const answered = answer.html.length - streamedBefore + argsCharacters;
      usage = { inputTokens: estimateTokens(step.requestCharacters()), outputTokens: estimateTokens(answered) };
    }
    turn.uncounted = usage;
    turn.inputTokens += usage.inputTokens;
    turn.outputTokens += usage.outputTokens;
  }
}

function charactersOf({ instructions, messages, tools }: ModelRequest): number {
  let characters = instructions.length;
  for (const message of messages) {
    if (message.role !== "tool") characters += message.text.length;
    if (message.role === "assistant")
      for (const { name, args } of message.toolCalls ?? []) characters += name.length + args.length;
    if (message.role === "tool") for (const { output } of message.results) characters += output.length;
  }
  for (const { name, description, parameters } of tools)
    characters += name.length + description.length + JSON.stringify(parameters).length;
  return characters;
}

function estimateTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** Models may name tools that do not exist; their text is not trusted. */
function toolName(name: string): string {
  return name.replace(/[^\w-]/g, "").slice(0, MAX_TOOL_NAME_CHARACTERS);
}

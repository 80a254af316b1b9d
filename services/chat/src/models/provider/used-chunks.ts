import { isJsonObject, type JsonObject } from "@toolgate/rules/json-object";
import { ModelError, type ToolCallExtra } from "../model.ts";
import { toModelError } from "./errors.ts";
import type { EventFilter } from "./filter-events.ts";

/** Most fragments of calls in one answer. In events of one fragment each, more do not fit into an answer. */
const MAX_CALL_FRAGMENTS = 50_000;
/** More is not kept for the next request. */
const MAX_EXTRA_CHARACTERS = 64 * 1024;

/** The chunks of an answer of OpenAI's chat completions, as many kinds of servers send them. */
export class UsedChunks implements EventFilter {
  #isFinished = false;
  #fragments = 0;
  #reasoning = "";
  /** What the server adds to a call, by the call's id. */
  readonly #extras = new Map<string, JsonObject>();

  used({ error, choices, usage, id }: JsonObject): JsonObject | undefined {
    if (error) throw toModelError(error, false);
    const [choice] = Array.isArray(choices) ? choices.filter(isJsonObject) : [];
    const delta = isJsonObject(choice?.delta) ? choice.delta : {};
    const reason = choice?.finish_reason;
    const hasReason = typeof reason === "string" && reason !== "" && reason !== "null";
    if (hasReason) this.#isFinished = true;
    const used = {
      delta: { content: this.#textOf(delta), tool_calls: this.#callsOf(delta.tool_calls) },
      finish_reason: hasReason ? reason : null,
    };
    return { ...(typeof id === "string" && { id }), choices: choice ? [used] : [], usage: usageOf(usage) };
  }

  ended(): void {
    // Its calls are dropped, however complete they look.
    if (!this.#isFinished) throw new ModelError("cut", "the answer is incomplete", { beforeOutput: false });
  }

  /** What has to come back with a call of this answer; the model's reasoning comes back with the first one. */
  extraOf(callId: string, isFirst: boolean): ToolCallExtra | undefined {
    const members = this.#extras.get(callId);
    const reasoning = isFirst && this.#reasoning !== "" ? this.#reasoning : undefined;
    if (members === undefined && reasoning === undefined) return undefined;
    const extra = { ...(members && { members }), ...(reasoning && { reasoning }) };
    return JSON.stringify(extra).length > MAX_EXTRA_CHARACTERS ? undefined : extra;
  }

  #textOf({ content, refusal, reasoning_content }: JsonObject): string | undefined {
    if (typeof reasoning_content === "string" && this.#reasoning.length < MAX_EXTRA_CHARACTERS) {
      this.#reasoning += reasoning_content;
    }
    const text = textIn(content) + textIn(refusal);
    return text === "" ? undefined : text;
  }

  #callsOf(fragments: unknown): JsonObject[] | undefined {
    if (!Array.isArray(fragments)) return undefined;
    this.#fragments += fragments.length;
    if (this.#fragments > MAX_CALL_FRAGMENTS) {
      throw new ModelError("invalid", "the calls are in too many fragments", { beforeOutput: false });
    }
    return fragments.filter(isJsonObject).map(({ index, id, type, function: named, ...others }) => {
      const { name, arguments: args } = isJsonObject(named) ? named : ({} as JsonObject);
      if (typeof id === "string" && Object.keys(others).length > 0) this.#extras.set(id, others);
      return {
        ...(typeof index === "number" && { index }),
        ...(typeof id === "string" && { id }),
        ...(type === "function" && { type }),
        function: {
          ...(typeof name === "string" && { name }),
          ...(args !== undefined &&
            args !== null && { arguments: typeof args === "string" ? args : JSON.stringify(args) }),
        },
      };
    });
  }
}

/** Some servers send a list of parts, of which those that are not text are the model's reasoning. */
function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (part?.type === "text" && typeof part.text === "string" ? part.text : "")).join("");
}

function usageOf(usage: unknown): JsonObject | undefined {
  if (!isJsonObject(usage)) return undefined;
  const { prompt_tokens, completion_tokens } = usage;
  return {
    ...(typeof prompt_tokens === "number" && { prompt_tokens }),
    ...(typeof completion_tokens === "number" && { completion_tokens }),
  };
}

import { eventually } from "@toolgate/testbed/eventually";
import type { Model, ModelError, ModelEvent, ModelRequest } from "../src/models/model.ts";

/** One request to the model, whose answer the test decides. */
export interface ModelCall {
  request: ModelRequest;
  /** The consumer has stopped reading, or its signal fired. */
  closed: boolean;
  text(text: string): void;
  callTool(name: string, args?: unknown): void;
  finish(usage?: { inputTokens: number; outputTokens: number }): void;
  fail(error: ModelError): void;
}

/** A model that says what the test tells it to. */
export interface ScriptedModel {
  model: Model;
  calls: ModelCall[];
  /** The request with this number, from 0, once it is made. */
  call(index: number): Promise<ModelCall>;
  /** Answers all further requests with `script`, instead of leaving them to the test. */
  answer(script: ((call: ModelCall) => void) | undefined): void;
}

type Next = { event: ModelEvent } | { error: Error } | "end";

export function scriptedModel(): ScriptedModel {
  const calls: ModelCall[] = [];
  let script: ((call: ModelCall) => void) | undefined;
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const queue: Next[] = [];
    let wake = () => {};
    const add = (next: Next) => {
      queue.push(next);
      wake();
    };
    const call: ModelCall = {
      request,
      closed: false,
      text: (text) => add({ event: { kind: "text", text } }),
      callTool: (name, args = {}) =>
        add({ event: { kind: "tool_call", id: `m${queue.length}`, name, args: JSON.stringify(args) } }),
      finish(usage = { inputTokens: 10, outputTokens: 5 }) {
        add({ event: { kind: "finished", usage } });
        add("end");
      },
      fail: (error) => add({ error }),
    };
    calls.push(call);
    signal.addEventListener("abort", () => wake());
    try {
      yield { kind: "started", model: "scripted" };
      script?.(call);
      for (;;) {
        signal.throwIfAborted();
        const next = queue.shift();
        if (next === undefined) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          continue;
        }
        if (next === "end") return;
        if ("error" in next) throw next.error;
        yield next.event;
      }
    } finally {
      call.closed = true;
    }
  }
  return {
    model: { name: "scripted", stream },
    calls,
    call: (index) => eventually(() => calls[index] ?? false),
    answer(next) {
      script = next;
    },
  };
}

/** A script that answers with a text. */
export function say(text: string): (call: ModelCall) => void {
  return (call) => {
    call.text(text);
    call.finish();
  };
}

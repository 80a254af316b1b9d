import { eventually } from "@toolgate/testbed/eventually";
import type { Model, ModelError, ModelEvent, ModelRequest } from "../src/models/model.ts";

/** One request to the model, whose answer the test decides. */
export interface ModelCall {
  request: ModelRequest;
  /** The consumer has stopped reading, or its signal fired. */
  closed: boolean;
  text(text: string): void;
  callTool(name: string, args?: unknown): void;
  finish(): void;
  /** A text and the end. */
  say(text: string): void;
  fail(error: ModelError): void;
}

type Next = { event: ModelEvent } | { error: Error } | "end";

/** A model that says what the test tells it to. */
export function scriptedModel() {
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
      finish() {
        add({ event: { kind: "finished", usage: { inputTokens: 10, outputTokens: 5 } } });
        add("end");
      },
      say(text) {
        call.text(text);
        call.finish();
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
    model: { name: "scripted", stream } satisfies Model,
    calls,
    /** The request with this number, from 0, once it is made. */
    call: (index: number) => eventually(() => calls[index] ?? false),
    /** Answers all further requests with `script`, instead of leaving them to the test. */
    answer(next: typeof script) {
      script = next;
    },
  };
}

/** A script that answers with a text. */
export function say(text: string): (call: ModelCall) => void {
  return (call) => call.say(text);
}

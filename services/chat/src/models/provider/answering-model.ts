import type { Model, ModelEvent, ModelRequest } from "../model.ts";
import { toModelError } from "./errors.ts";

/** Asks a server once, and yields its answer as a Model does. It may throw anything. */
type Ask = (request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>;

/** A model that keeps a Model's promises about errors and stops, whatever `ask` throws. */
export function answeringModel(name: string, ask: Ask): Model {
  return {
    name,
    async *stream(request, signal) {
      signal.throwIfAborted();
      const stop = new AbortController();
      const onAbort = () => stop.abort(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      let beforeOutput = true;
      try {
        for await (const event of ask(request, stop.signal)) {
          if (event.kind === "text" || event.kind === "tool_call") beforeOutput = false;
          yield event;
        }
      } catch (error) {
        signal.throwIfAborted();
        throw toModelError(error, beforeOutput);
      } finally {
        signal.removeEventListener("abort", onAbort);
        // Closes the connection when the consumer stops reading, or when reading has failed before the end.
        stop.abort();
      }
    },
  };
}

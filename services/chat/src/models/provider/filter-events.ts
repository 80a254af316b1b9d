import { isJsonObject, type JsonObject } from "@toolgate/rules/json-object";
import { createParser } from "eventsource-parser";
import { ModelError } from "../model.ts";

/** Most characters of one event of an answer. */
const MAX_EVENT_CHARACTERS = 1_048_576;

/** What of an answer's events the AI SDK gets. */
export interface EventFilter {
  /** The parts of an event that are used; undefined when there are none. Throws what the server reports. */
  used(event: JsonObject): JsonObject | undefined;
  /** The server has ended the answer. Throws when it is incomplete. */
  ended?(): void;
}

/**
 * The server-sent events of an answer with only what is used of them. The AI SDK, which reads them next, refuses a whole
 * answer for one part that it does not know, and takes very long for some others. What is no JSON object is left out.
 */
export function filterEvents(body: ReadableStream<Uint8Array>, filter: EventFilter): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let text = "";
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARACTERS,
    onEvent({ data }) {
      const event = parsed(data);
      const used = event && filter.used(event);
      if (used) text += `data: ${JSON.stringify(used)}\n\n`;
    },
    onError({ type }) {
      if (type !== "max-buffer-size-exceeded") return;
      throw new ModelError("invalid", "an event of the model's server is too long", { beforeOutput: false });
    },
  });
  const read = (piece: string, controller: TransformStreamDefaultController<Uint8Array>) => {
    let failure: { error: unknown } | undefined;
    try {
      parser.feed(piece);
    } catch (error) {
      failure = { error };
    }
    // What came before a failure counts.
    if (text !== "") controller.enqueue(encoder.encode(text));
    text = "";
    if (failure) throw failure.error;
  };
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => read(decoder.decode(chunk, { stream: true }), controller),
      flush(controller) {
        // The last event may lack its blank line.
        read("\n\n", controller);
        filter.ended?.();
      },
    }),
  );
}

function parsed(data: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

import { isJsonObject } from "@toolgate/rules/json-object";
import { MAX_EVENT_CHARACTERS } from "../provider/bounds.ts";
import { EventReader } from "../provider/event-reader.ts";

type Json = Record<string, unknown>;

/**
 * Passes on the events of an answer with only the parts that are used. The AI SDK, which reads them next, takes very long
 * for some of the others: it describes each fault in a list, and copies the usage so far for each event that reports some.
 */
export function usedEvents(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const reader = new EventReader(MAX_EVENT_CHARACTERS);
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const events = reader.push(decoder.decode(chunk, { stream: true }));
        const text = events.map(usedEvent).join("");
        if (text !== "") controller.enqueue(encoder.encode(text));
      },
    }),
  );
}

function usedEvent(data: string): string {
  const used = usedParts(parse(data));
  return used === undefined ? "" : `data: ${JSON.stringify(used)}\n\n`;
}

/** Undefined: nothing in the event is used. Null, which the SDK refuses: it is no event of this API. */
function usedParts(event: Json): Json | undefined | null {
  const { type, index } = event;
  switch (type) {
    case "message_start": {
      const { id, usage } = member(event, "message");
      return { type, message: { id, usage: usedUsage(usage) } };
    }
    case "content_block_start": {
      const block = usedBlock(member(event, "content_block"));
      return block && { type, index, content_block: block };
    }
    case "content_block_delta": {
      const delta = usedDelta(member(event, "delta"));
      return delta && { type, index, delta };
    }
    case "content_block_stop":
      return { type, index };
    case "message_delta":
      return { type, delta: { stop_reason: member(event, "delta").stop_reason }, usage: usedUsage(event.usage) };
    case "message_stop":
      return { type };
    case "error": {
      const { type: kind, message, code, statusCode } = member(event, "error");
      return { type, error: { type: kind, message, code, statusCode } };
    }
    case "ping":
      return undefined;
    default:
      return null;
  }
}

/** Text and calls; the model's reasoning and tools of the server, for which it was not asked, are left out. */
function usedBlock({ type, text, id, name, input }: Json): Json | undefined {
  if (type === "text") return { type, text };
  return type === "tool_use" ? { type, id, name, input } : undefined;
}

function usedDelta({ type, text, partial_json }: Json): Json | undefined {
  if (type === "text_delta") return { type, text };
  return type === "input_json_delta" ? { type, partial_json } : undefined;
}

function usedUsage(usage: unknown): Json | undefined {
  if (!isJsonObject(usage)) return undefined;
  const { input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens } = usage;
  return { input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens };
}

function member(event: Json, name: string): Json {
  const value = event[name];
  return isJsonObject(value) ? value : {};
}

function parse(data: string): Json {
  try {
    const value: unknown = JSON.parse(data);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

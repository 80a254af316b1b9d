import { ModelError } from "../model.ts";

const NEWLINE = 10;
const RETURN = 13;

/** Passes server-sent events on, and fails as invalid when one of them, up to its blank line, is longer than the bound. */
export function boundEvents(body: ReadableStream<Uint8Array>, maxBytes: number): ReadableStream<Uint8Array> {
  let eventBytes = 0;
  let blank = false;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        for (const byte of chunk) {
          eventBytes++;
          if (byte === NEWLINE) {
            if (blank) eventBytes = 0;
            blank = true;
          } else if (byte !== RETURN) blank = false;
        }
        if (eventBytes > maxBytes) {
          throw new ModelError("invalid", "an event of the model's server is too long", { beforeOutput: false });
        }
        controller.enqueue(chunk);
      },
    }),
  );
}

import { Progress } from "./progress.ts";
import { type ReachContext, type RequestBasics, reach } from "./reach.ts";
import { BodyCut, type FetchFailure, type Timings } from "./result.ts";

/** One request whose response is read while it arrives. All times in wall-clock milliseconds. */
export type OpenRequest = RequestBasics & {
  /** For DNS, connect and TLS. */
  connectMs: number;
  /** From there to the first byte of the body. */
  firstByteMs: number;
  /** Between two parts of the body; the time that the reader takes does not count. */
  idleMs: number;
  /** For everything, the body included. */
  deadlineMs: number;
};

/** The response's head, and its body as a stream that fails with a BodyCut. Or why there is none. */
export type OpenResult =
  | {
      kind: "response";
      status: number;
      headers: Record<string, string | string[]>;
      body: ReadableStream<Uint8Array>;
      timings: Timings;
    }
  | FetchFailure;

/**
 * One request from URL rules to the head of its response. Never rejects. `onEnd` is called once, when nothing of the request
 * is left: the body has ended, or there is none.
 */
export async function open(
  context: ReachContext,
  request: OpenRequest,
  stop: AbortController,
  onEnd: () => void,
): Promise<OpenResult> {
  const progress = new Progress(stop.signal);
  let timer: NodeJS.Timeout | undefined;
  const allow = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => stop.abort("deadline"), ms);
  };
  allow(request.connectMs);
  const reached = await reach(context, request, progress, () => allow(request.firstByteMs));
  if (reached.kind !== "response") {
    clearTimeout(timer);
    onEnd();
    return reached;
  }
  const { status, headers, body, giveUp } = reached;
  body.once("close", () => {
    clearTimeout(timer);
    onEnd();
  });
  const parts = (body as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  let left = request.maxResponseBytes;
  let isFirst = true;
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (!isFirst) allow(request.idleMs);
      isFirst = false;
      try {
        const { done, value: part } = await parts.next();
        // The time that the reader takes until it asks for the next part does not count.
        clearTimeout(timer);
        if (done) return controller.close();
        controller.enqueue(part.subarray(0, left));
        left -= part.length;
        if (left >= 0) return;
        controller.error(new BodyCut("size"));
        giveUp();
      } catch {
        controller.error(new BodyCut(stop.signal.reason ?? "connection"));
      }
    },
    cancel: giveUp,
  });
  return { kind: "response", status, headers, body: stream, timings: progress.done() };
}

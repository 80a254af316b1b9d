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

/** Body bytes that wait for the reader before reading from the connection stops. */
const MAX_WAITING_BYTES = 65_536;

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
  let left = request.maxResponseBytes;
  let stopped = false;
  const cancel = () => {
    stopped = true;
    giveUp();
  };
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // By events: an iterator joins parts that have arrived together, and when a reader fails at the last of them, what it
        // made of the others would be lost.
        body.on("data", (part: Buffer) => {
          if (stopped) return;
          allow(request.idleMs);
          controller.enqueue(part.subarray(0, left));
          left -= part.length;
          if (left < 0) {
            controller.error(new BodyCut("size"));
            cancel();
          } else if ((controller.desiredSize ?? 0) <= 0) {
            body.pause();
            clearTimeout(timer);
          }
        });
        body.once("end", () => stopped || controller.close());
        body.once("error", () => controller.error(new BodyCut(stop.signal.reason ?? "connection")));
      },
      pull() {
        if (!body.isPaused()) return;
        body.resume();
        allow(request.idleMs);
      },
      cancel,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: MAX_WAITING_BYTES }),
  );
  return { kind: "response", status, headers, body: stream, timings: progress.done() };
}

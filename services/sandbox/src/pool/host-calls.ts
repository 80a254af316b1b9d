import type { PoolSettings } from "../limits.ts";
import { MAX_MESSAGE_CHARS, PART_CHARS } from "../protocol/frames.ts";
import type { SandboxRun } from "./run.ts";

const MESSAGE_CHARS = 2_000;
const NAME_CHARS = 100;

/** Passes a host call to the owner of the run, and its result back to the child unless the run has ended meanwhile. */
export async function serveHostCall(
  run: SandboxRun,
  callId: number,
  name: string,
  argsJson: string,
  settings: PoolSettings,
): Promise<void> {
  run.hostCallsUnderWay += 1;
  try {
    if (!settings.functions.includes(name)) throw new TypeError("There is no such host function");
    if (Buffer.byteLength(argsJson) > settings.hostCallBytes)
      throw new RangeError(`The arguments of ${name} are too large`);
    run.hostCallsAbort ??= new AbortController();
    const { signal } = run.hostCallsAbort;
    const result = await run.inRequest(() => run.request.onHostCall(name, argsJson, signal));
    if (Buffer.byteLength(result) > Math.min(settings.hostResultBytes, MAX_MESSAGE_CHARS))
      throw new RangeError(`The result of ${name} is too large`);
    if (run.state !== "ended") run.child?.resolve(run, callId, inParts(result));
  } catch (error) {
    if (run.state === "ended") return;
    const { message, name: kind, code } = (error ?? {}) as Record<string, unknown>;
    const text = cut(message, MESSAGE_CHARS) || "The call failed";
    run.child?.reject(run, callId, text, cut(kind, NAME_CHARS), cut(code, NAME_CHARS));
  } finally {
    run.hostCallsUnderWay -= 1;
  }
}

function inParts(json: string): string[] {
  if (json.length <= 2 * PART_CHARS) return [json];
  const count = Math.ceil(json.length / PART_CHARS);
  return Array.from({ length: count }, (_, at) => json.slice(at * PART_CHARS, (at + 1) * PART_CHARS));
}

function cut(value: unknown, chars: number): string {
  return typeof value === "string" ? value.slice(0, chars) : "";
}

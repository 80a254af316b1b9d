import { HOST_FUNCTIONS } from "../domain/host-functions.ts";
import type { ActiveRun } from "./active-run.ts";
import type { PoolLimits } from "./limits.ts";
import { MAX_MESSAGE_CHARS } from "./protocol.ts";

const MESSAGE_CHARS = 2_000;
const NAME_CHARS = 100;
const KNOWN_FUNCTIONS: ReadonlySet<string> = new Set(HOST_FUNCTIONS);

/** Hands a call from inside a tool to the run's owner and brings the answer back, unless the run has ended. */
export async function serveHostCall(
  run: ActiveRun,
  callId: number,
  name: string,
  argsJson: string,
  limits: PoolLimits,
): Promise<void> {
  const child = run.child;
  const stillHere = () => !run.settled && run.child === child && child !== undefined && !child.ended;
  run.hostCallsUnderWay += 1;
  try {
    if (!KNOWN_FUNCTIONS.has(name)) throw new TypeError("There is no such host function");
    if (Buffer.byteLength(argsJson) > limits.hostCallBytes)
      throw new RangeError(`The arguments of ${name} are too large`);
    run.hostCallsOver ??= new AbortController();
    const json = await run.request.onHostCall(name, argsJson, run.hostCallsOver.signal, run.answers.inTurn);
    if (Buffer.byteLength(json) > Math.min(limits.hostAnswerBytes, MAX_MESSAGE_CHARS))
      throw new RangeError(`The answer of ${name} is too large`);
    if (stillHere()) child?.answer(run, callId, json);
  } catch (error) {
    if (!stillHere()) return;
    const { message, name: kind, code } = (error ?? {}) as Record<string, unknown>;
    child?.refuse(
      run,
      callId,
      text(message, MESSAGE_CHARS) || "The call failed",
      text(kind, NAME_CHARS),
      text(code, NAME_CHARS),
    );
  } finally {
    run.hostCallsUnderWay -= 1;
  }
}

function text(value: unknown, chars: number): string {
  return typeof value === "string" ? value.slice(0, chars) : "";
}

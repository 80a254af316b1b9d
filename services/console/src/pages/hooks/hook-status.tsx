import type { Hook, HookTarget } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import type { HOOK_STATES } from "../../routes/hooks.ts";
import { Status, type Tone } from "../../ui/status.tsx";

/** From this many rows on, the server only says that there are as many. */
const MANY = 1_000;

interface State {
  /** Which filter finds it. */
  state: (typeof HOOK_STATES)[number];
  tone: Tone;
  text: string;
}

const count = (calls: number) => (calls >= MANY ? "1,000 or more" : calls.toLocaleString("en"));

/** A hook that has never accepted a call. */
export function isWaiting({ lastReceivedAt, deliveriesLast24h }: Hook): boolean {
  return lastReceivedAt === undefined && deliveriesLast24h === 0;
}

/** What an admin should know first. */
export function stateOf(hook: Hook): State {
  const { active, refusedInARow, failedLast24h: failed, deliveriesLast24h: all } = hook;
  if (!active) return { state: "off", tone: "dim", text: "Off" };
  if (refusedInARow > 0) {
    const calls = refusedInARow === 1 ? "The last call" : `${refusedInARow.toLocaleString("en")} calls in a row`;
    return { state: "failing", tone: "bad", text: `${calls} failed verification` };
  }
  if (isWaiting(hook)) return { state: "waiting", tone: "warn", text: "Waiting for the first call…" };
  if (failed > 0) return { state: "failing", tone: "warn", text: `${count(failed)} of ${count(all)} failed in 24 h` };
  return { state: "active", tone: "good", text: "Active" };
}

export function HookStatus({ of }: { of: Hook }) {
  const { tone, text, state } = stateOf(of);
  return (
    <Status tone={tone} {...(state === "failing" && { icon: "warn" })}>
      {text}
    </Status>
  );
}

/** "tool add_order" or "assistant support". */
export function targetText(target: HookTarget | undefined): string {
  const { case: kind = "tool", value = "" } = target?.target ?? {};
  return `${kind} ${value}`;
}

import { type ChatName, followChat } from "@toolgate/event-bus/chat-events";
import type { Bus } from "@toolgate/event-bus/connect";
import { createWakeUp } from "@toolgate/event-bus/wake-up";
import type { ChatEvents } from "@toolgate/gen/toolgate/chat/v1/chat_events_pb";
import type { Pool } from "@toolgate/postgres/pool";
import { hasEnded } from "../domain/turn.ts";
import { findTurn, type TurnProgress } from "../store/turns/find.ts";

/** Makes up for notices that were lost. */
const POLL_MS = 2_000;

interface Dependencies {
  pool: Pool;
  bus: Bus;
  onError: (error: unknown) => void;
}

/** Resolves once a turn has ended. Undefined when the signal fires first. */
export async function untilEnded(
  { pool, bus, onError }: Dependencies,
  turn: { id: string },
  chat: ChatName,
  signal: AbortSignal,
): Promise<TurnProgress | undefined> {
  const wakeUp = createWakeUp();
  const receive = ({ events }: ChatEvents) => {
    // A turn that is refused has no event.
    if (events.length === 0 || events.some(({ event }) => event.case === "done")) wakeUp.signal();
  };
  using following = followChat(bus, chat, receive, onError);
  await following.subscribed;
  while (!signal.aborted) {
    const found = await findTurn(pool, turn.id);
    if (found && hasEnded(found.status)) return found;
    await wakeUp.wait(POLL_MS, signal);
  }
  return undefined;
}

import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import type { GroupCommit } from "@toolgate/event-bus/group-commit";
import { ChatEventSchema } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { type EventBody, storedEvent } from "../../domain/chat-event.ts";
import type { CallRecord } from "../../domain/turn.ts";
import type { ClaimedTurn } from "../../store/turns/claim.ts";
import type { StepWrite } from "../../store/turns/journal.ts";
import type { TurnWrite } from "../../store/turns/write.ts";
import type { Signals } from "../signals.ts";
import { type TurnControl, TurnLeft } from "./turn-control.ts";

/** What is added to a turn together. */
interface Entry {
  events?: readonly EventBody[];
  calls?: readonly CallRecord[];
  step?: StepWrite;
}

interface LogDependencies {
  writer: Pick<GroupCommit<TurnWrite>, "add">;
  signals: Signals;
  onError: (error: unknown) => void;
}

interface LoggedTurn {
  turn: ClaimedTurn;
  start: { lastEventId: number; firstAnswerId: number };
  control: TurnControl;
}

const RETRY_MS = 250;

export type TurnLog = ReturnType<typeof createTurnLog>;

/**
 * What one running turn writes, in order. Everything that is appended while a write is under way becomes the next write.
 * Events are published once they are committed.
 */
export function createTurnLog({ writer, signals, onError }: LogDependencies, { turn, start, control }: LoggedTurn) {
  let { lastEventId, firstAnswerId } = start;
  let waiting: Entry[] = [];
  let next: Promise<void> | undefined;
  let last: Promise<void> = Promise.resolve();

  /** After a failure of the database it is not known whether the write was made, so the same one is made again. */
  async function write(write: TurnWrite): Promise<void> {
    for (;;) {
      if (control.left === "lost") throw new TurnLeft("lost");
      try {
        await writer.add(write);
        break;
      } catch (error) {
        onError(error);
        await sleep(RETRY_MS);
      }
    }
    if (write.error) throw write.error;
    if (write.written) return;
    control.leave("lost");
    throw new TurnLeft("lost");
  }

  async function writeWaiting(previous: Promise<void>): Promise<void> {
    // The entries of this tick share a write.
    await Promise.resolve();
    await previous.catch(() => {});
    const entries = waiting;
    waiting = [];
    next = undefined;
    const bodies = entries.flatMap((entry) => entry.events ?? []);
    const step = entries.find((entry) => entry.step)?.step;
    const before = lastEventId;
    await write({
      turn: turn.id,
      token: turn.token,
      chat: turn.chat,
      before,
      events: bodies.map(storedEvent),
      calls: entries.flatMap((entry) => entry.calls ?? []),
      ...(step && { step }),
      written: false,
    });
    lastEventId += bodies.length;
    const events = bodies.map((event, index) => create(ChatEventSchema, { id: BigInt(before + 1 + index), event }));
    const firstMessage = events.find(({ event }) => event.case === "message");
    if (firstAnswerId === 0 && firstMessage) firstAnswerId = Number(firstMessage.id);
    if (events.length > 0) signals.publish(turn, turn.id, events);
  }

  return {
    /** The id of the chat's last event. */
    get lastEventId(): number {
      return lastEventId;
    },
    /** The id of the answer's first event; 0 while there is none. */
    get firstAnswerId(): number {
      return firstAnswerId;
    },
    /** Resolves once it is committed. Rejects with TurnLeft when the worker no longer holds the turn. */
    append(entry: Entry): Promise<void> {
      waiting.push(entry);
      if (!next) {
        next = writeWaiting(last);
        last = next;
        next.catch(() => {});
      }
      return next;
    },
    /** Resolves once everything appended is committed, or has failed. */
    settled: (): Promise<void> => last.catch(() => {}),
  };
}

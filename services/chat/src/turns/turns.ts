import { Code, ConnectError } from "@connectrpc/connect";
import type { ChatName } from "@toolgate/event-bus/chat-events";
import type { Bus } from "@toolgate/event-bus/connect";
import type { Pool } from "@toolgate/postgres/pool";
import { currentRequestId } from "@toolgate/telemetry/request";
import { currentTrace } from "@toolgate/telemetry/trace";
import { v7 as uuidv7 } from "uuid";
import { forbidden } from "../domain/chat-error.ts";
import { chatEvent, doneEvent, messageEvent, storedEvent } from "../domain/chat-event.ts";
import { type ChatRow, findChat } from "../store/chats.ts";
import type { TurnQueues } from "../store/queue.ts";
import { endReadyTurn } from "../store/turns/end.ts";
import { type CurrentTurn, findCurrentTurn, requestStop } from "../store/turns/find.ts";
import { resetChat } from "../store/turns/reset.ts";
import { type NewTurn, type StartOutcome, startTurn, type TurnRef } from "../store/turns/start.ts";
import { deleteResetBatch } from "../store/unfinished-resets.ts";
import { createQueueSlots, REQUESTED } from "./queue-slots.ts";
import { createSignals } from "./signals.ts";
import { untilEnded } from "./until-ended.ts";

export type TurnRequest = Omit<NewTurn, "id" | "userEvent" | "requestId" | "traceparent">;

/** Names a chat, and who asks. */
export interface ChatOfOwner extends ChatName {
  /** The user's id, or hook:<hook id>. */
  owner: string;
}

interface TurnsOptions {
  pool: Pool;
  queuePool: Pool;
  queues: TurnQueues;
  bus: Bus;
  now: () => Date;
  onError: (error: unknown) => void;
}

const STOPPED_WITHIN_MS = 10_000;

export type Turns = ReturnType<typeof createTurns>;

/**
 * What RPCs do with turns. Each change is committed before it resolves. Another user's chat is a permission_denied error, except
 * for `start`, whose outcome says so.
 */
export function createTurns({ pool, queuePool, queues, bus, now, onError }: TurnsOptions) {
  const inQueue = createQueueSlots(REQUESTED);
  const signals = createSignals(bus);

  /** Resolves once a turn has ended. Undefined when the signal fires first. */
  function untilTurnEnded(turn: Pick<TurnRef, "id">, chat: ChatName, signal: AbortSignal) {
    return untilEnded({ pool, bus, onError }, turn, chat, signal);
  }

  /** Undefined for a chat that does not exist. */
  async function find({ workspaceId, chatId, owner }: ChatOfOwner): Promise<ChatRow | undefined> {
    const chat = await findChat(pool, workspaceId, chatId);
    if (chat && chat.owner !== owner) throw forbidden();
    return chat;
  }

  /** False when a worker has claimed it in the meantime. */
  async function stopReady(turn: CurrentTurn): Promise<boolean> {
    const done = storedEvent(doneEvent({ stopped: true }));
    const ended = await inQueue(turn.workspaceId, () =>
      endReadyTurn(queuePool, queues[turn.lane], turn, [done], now()),
    );
    if (!ended) return false;
    signals.publish(turn, turn.id, [chatEvent(turn.lastEventId + 1, done)]);
    const { next } = ended;
    if (!next) return true;
    signals.publish(turn, next.id, [chatEvent(next.eventId, next.event)]);
    signals.announceTurns(turn.lane);
    return true;
  }

  return {
    find,
    untilEnded: untilTurnEnded,
    /**
     * Stores a user's message and starts a turn for it, or joins the one that the same client message started before. The
     * turn's events are those from `firstEventId` to its done event. It waits while that is 0.
     */
    async start(request: TurnRequest): Promise<StartOutcome> {
      const ids = { id: uuidv7(), requestId: currentRequestId(), traceparent: currentTrace().traceparent };
      const { outcome, userEvent } = await inQueue(request.workspaceId, async () => {
        const at = now();
        const userEvent = storedEvent(messageEvent("user", request.message, at));
        const turn = { ...request, ...ids, userEvent };
        return { outcome: await startTurn(queuePool, queues[request.lane], turn, at), userEvent };
      });
      if (outcome.kind === "started" && outcome.turn.status === "ready") {
        const { id, firstEventId } = outcome.turn;
        signals.announceTurns(request.lane);
        signals.publish(request, id, [chatEvent(firstEventId, userEvent)]);
      }
      return outcome;
    },
    /**
     * Cancels the turn that runs, and resolves once it has ended. False: no turn was running. A turn that has not ended after
     * 10 s is a deadline_exceeded error; it is still stopped, as soon as its worker or another one can.
     */
    async stop(request: ChatOfOwner): Promise<boolean> {
      const chat = await find(request);
      const turn = chat && (await findCurrentTurn(pool, chat.id));
      if (!turn) return false;
      if (turn.status === "ready" && (await stopReady(turn))) return true;
      if (!(await requestStop(pool, turn.id))) return false;
      signals.announceStop(turn.id);
      if (await untilTurnEnded(turn, turn, AbortSignal.timeout(STOPPED_WITHIN_MS))) return true;
      throw new ConnectError("the turn has not ended yet; it will be stopped", Code.DeadlineExceeded);
    },
    /**
     * Ends the chat's turns. Nobody sees its messages and events from then on; they are deleted then, or soon if there are
     * many. An unknown chat is not an error.
     */
    async reset(request: ChatOfOwner): Promise<void> {
      const done = storedEvent(doneEvent());
      const outcome = await inQueue(request.workspaceId, () =>
        resetChat(queuePool, queues.chat, { ...request, doneEvent: done }, now()),
      );
      if (outcome.kind === "forbidden") throw forbidden();
      if (outcome.kind !== "reset") return;
      const { chat, current, endedTurns } = outcome;
      for (const turn of endedTurns) if (turn !== current?.turn) signals.publish(request, turn, []);
      if (current) {
        signals.announceStop(current.turn);
        signals.publish(request, current.turn, [chatEvent(current.doneId, done)]);
      }
      // All that most chats have. Workers delete the rest, and this too if it fails.
      await deleteResetBatch(pool, chat, now()).catch(() => false);
    },
  };
}

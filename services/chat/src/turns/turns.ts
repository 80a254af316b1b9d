import { create } from "@bufbuild/protobuf";
import type { ChatName } from "@toolgate/event-bus/chat-events";
import type { Bus } from "@toolgate/event-bus/connect";
import { TurnReceiptSchema } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { Pool } from "@toolgate/postgres/pool";
import { currentRequestId } from "@toolgate/telemetry/request";
import { currentTrace } from "@toolgate/telemetry/trace";
import { v7 as uuidv7 } from "uuid";
import { chatEvent, doneEvent, messageEvent, storedEvent } from "../domain/chat-event.ts";
import { type ChatRow, findChat } from "../store/chats.ts";
import { LANES, type Lane, laneQueue } from "../store/queue.ts";
import type { ClaimedTurn } from "../store/turns/claim.ts";
import { createStopReady, type StopReady } from "../store/turns/end.ts";
import type { TurnProgress } from "../store/turns/find.ts";
import { createResetStore } from "../store/turns/reset.ts";
import { createStartStore, type NewTurn, type StartOutcome, type TurnRef } from "../store/turns/start.ts";
import { deleteResetBatch } from "../store/unfinished-resets.ts";
import { createPublishEvents, type PublishEvents } from "./live-events.ts";
import { createQueueSlots, REQUESTED } from "./queue-slots.ts";
import { announceStop, stopTurn } from "./stop-turn.ts";
import { createAnnounceTurns } from "./subjects.ts";
import { untilEnded } from "./until-ended.ts";

export type TurnRequest = Omit<NewTurn, "id" | "userEvent" | "requestId" | "traceparent">;

/** Names a chat, and who asks. */
export interface ChatOfOwner extends ChatName {
  /** The user's id, or hook:<hook id>. */
  owner: string;
}

/** What RPCs do with turns. Each change is committed before it resolves. */
export interface Turns {
  /**
   * Stores a user's message and starts a turn for it, or joins the one that the same client message started before. The
   * turn's events are those from `firstEventId` to its done event. It waits while that is 0.
   */
  start(request: TurnRequest): Promise<StartOutcome>;
  /**
   * Cancels the turn that runs, and resolves once it has ended. False: no turn was running. Fails with deadline_exceeded
   * when it has not ended after 10 s.
   */
  stop(chat: ChatOfOwner): Promise<boolean | "forbidden">;
  /** Resolves once a turn has ended. Undefined when the signal fires first. */
  untilEnded(turn: Pick<TurnRef, "id">, chat: ChatName, signal: AbortSignal): Promise<TurnProgress | undefined>;
  /**
   * Ends the chat's turns. Nobody sees its messages and events from then on; they are deleted then, or soon if there are
   * many. An unknown chat is not an error.
   */
  reset(chat: ChatOfOwner): Promise<"reset" | "forbidden">;
  /** Undefined for a chat that does not exist. */
  find(chat: ChatOfOwner): Promise<ChatRow | "forbidden" | undefined>;
}

/** A worker in the process that accepts a turn, which can start it without being told by the broker. */
export interface LocalWorker {
  hasRoom(lane: Lane): boolean;
  /** `stored` settles when the claim's commit has ended. Nothing is written before that. */
  run(turns: readonly ClaimedTurn[], stored: Promise<void>): void;
}

interface TurnsOptions {
  pool: Pool;
  queuePool: Pool;
  turnsPerWorkspace: number;
  bus: Bus;
  now: () => Date;
  onError: (error: unknown) => void;
  /** The worker in this process, unless there is none or it takes no more turns. */
  localWorker?: () => LocalWorker | undefined;
}

/** Beyond this one claim for many turns costs less than a claim for each. */
const MAX_STARTS_THAT_CLAIM = 4;

export function createTurns({
  pool,
  queuePool,
  turnsPerWorkspace,
  bus,
  now,
  onError,
  localWorker,
}: TurnsOptions): Turns {
  const startIn = Object.fromEntries(
    LANES.map((lane) => [lane, createStartStore(queuePool, lane, laneQueue(lane, turnsPerWorkspace))]),
  ) as Record<Lane, ReturnType<typeof createStartStore>>;
  const inQueue = createQueueSlots(REQUESTED);
  const stopReady = Object.fromEntries(
    LANES.map((lane): [Lane, StopReady] => {
      const stop = createStopReady(queuePool, lane, laneQueue(lane, turnsPerWorkspace));
      return [lane, (turn, events, at) => inQueue(turn.workspaceId, () => stop(turn, events, at))];
    }),
  ) as Record<Lane, StopReady>;
  const resetStore = createResetStore(queuePool, laneQueue("chat", turnsPerWorkspace));
  const publish = createPublishEvents(bus);
  const announceTurns = createAnnounceTurns(bus);
  let starting = 0;
  async function find({ workspaceId, chatId, owner }: ChatOfOwner): Promise<ChatRow | "forbidden" | undefined> {
    const chat = await findChat(pool, workspaceId, chatId);
    return chat && chat.owner !== owner ? "forbidden" : chat;
  }
  async function store(request: TurnRequest) {
    starting += 1;
    const at = now();
    const userEvent = storedEvent(messageEvent("user", request.message, at));
    const ids = { id: uuidv7(), requestId: currentRequestId(), traceparent: currentTrace().traceparent };
    const worker = localWorker?.();
    const claims = starting <= MAX_STARTS_THAT_CLAIM && worker?.hasRoom(request.lane);
    const stored = Promise.withResolvers<void>();
    // The model is asked while the message is being stored.
    const onClaimed = claims && worker ? (turns: ClaimedTurn[]) => worker.run(turns, stored.promise) : undefined;
    const storing = startIn[request.lane]({ ...request, ...ids, userEvent }, at, { onClaimed });
    // Whether it failed is found by the first write.
    storing.then(
      () => stored.resolve(),
      () => stored.resolve(),
    );
    try {
      return { ...(await storing), userEvent };
    } finally {
      starting -= 1;
    }
  }
  return {
    find,
    untilEnded: (turn, chat, signal) => untilEnded({ pool, bus, onError }, turn, chat, signal),
    async start(request) {
      const { outcome, claimed, userEvent } = await inQueue(request.workspaceId, () => store(request));
      if (outcome.kind === "started" && outcome.turn.status === "ready") {
        if (!claimed.some(({ id }) => id === outcome.turn.id)) announceTurns(request.lane);
        const { id, firstEventId } = outcome.turn;
        publish(request, id, [chatEvent(firstEventId, userEvent)]);
      }
      return outcome;
    },
    async stop(request) {
      const chat = await find(request);
      if (chat === "forbidden") return "forbidden";
      return chat ? stopTurn({ pool, bus, stopReady, publish, announceTurns, now, onError }, chat.id) : false;
    },
    async reset(request) {
      const end = storedEvent(doneEvent(create(TurnReceiptSchema)));
      const outcome = await inQueue(request.workspaceId, () => resetStore({ ...request, doneEvent: end }, now()));
      if (outcome.kind === "forbidden") return "forbidden";
      if (outcome.kind === "reset") {
        announceReset(bus, publish, request, outcome, end);
        // All that most chats have. Workers delete the rest, and this too if it fails.
        await deleteResetBatch(pool, outcome.chat, now()).catch(() => false);
      }
      return "reset";
    },
  };
}

/** Tells the worker that its turn is over, and those who follow the chat. */
function announceReset(
  bus: Bus,
  publish: PublishEvents,
  chat: ChatName,
  { current, endedTurns }: Extract<Awaited<ReturnType<ReturnType<typeof createResetStore>>>, { kind: "reset" }>,
  end: Uint8Array,
): void {
  for (const turn of endedTurns) {
    if (turn !== current?.turn) publish(chat, turn, []);
  }
  if (!current) return;
  announceStop(bus, current.turn);
  publish(chat, current.turn, [chatEvent(current.doneId, end)]);
}

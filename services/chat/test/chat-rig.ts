import { randomUUID } from "node:crypto";
import { create, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { connectBus } from "@toolgate/event-bus/connect";
import { AssistantDefinitionSchema } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import type { ChatEvent } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { createPipelinePool } from "@toolgate/postgres/fair-queue/pipeline";
import { migrate } from "@toolgate/postgres/migrate";
import { createPool } from "@toolgate/postgres/pool";
import { createLogger } from "@toolgate/service-host/process/logger";
import { localServices } from "@toolgate/service-host/rpc/local-services";
import type { Service } from "@toolgate/service-host/service";
import { migrationsOf } from "@toolgate/service-registry/paths";
import { eventually } from "@toolgate/testbed/eventually";
import { startToolRunnerRig } from "../../tool-runner/test/tool-runner-rig.ts";
import { type Config, type ProcessRole, ROLES } from "../src/config.ts";
import { start as startService } from "../src/service.ts";
import { readEvents } from "../src/store/events.ts";
import { readMessagesAfter } from "../src/store/history.ts";
import { turnQueues } from "../src/store/queue.ts";
import type { StartOutcome, TurnRef } from "../src/store/turns/start.ts";
import { createTurns, type TurnRequest } from "../src/turns/turns.ts";
import { scriptedModel } from "./scripted-model.ts";

const ALL = { limit: 100_000, maxBytes: Number.MAX_SAFE_INTEGER };

export type ChatRig = Awaited<ReturnType<typeof startChatRig>>;

export interface ChatSetup {
  /** The instances to run, each with these roles. Default: one with all. */
  instances?: (readonly ProcessRole[])[];
  config?: Partial<Config>;
  /** Ask the models that assistants name, instead of the one that the test scripts. */
  realModels?: boolean;
}

/** The service on real servers with a real tool-runner, and a model that says what the test tells it to. */
export async function startChatRig(setup: ChatSetup = {}) {
  await using opening = new AsyncDisposableStack();
  const resources = opening.use(new AsyncDisposableStack());
  const tools = resources.use(await startToolRunnerRig());
  const log = createLogger({ service: "chat", level: process.env.TEST_LOG_LEVEL ?? "silent" });
  const { databaseUrl, natsUrl, sealingKeys } = tools.config;
  const connection = { url: databaseUrl, maxConnections: 4, applicationName: "rig" };
  const pool = resources.adopt(createPool(connection), (owned) => owned.end());
  const queuePool = resources.adopt(createPipelinePool(connection), (owned) => owned.end());
  await migrate({ pool, ...migrationsOf("chat") });
  const bus = resources.use(await connectBus({ servers: natsUrl, name: "rig" }));
  const config: Config = {
    databaseUrl,
    databaseConnections: 6,
    natsUrl,
    sealingKeys,
    applicationHosts: [],
    allowedTargets: ["127.0.0.1"],
    targetCaFile: "",
    roles: new Set(ROLES),
    filesFolder: "",
    turnsPerWorker: 100,
    turnsPerWorkspace: 100,
    ...setup.config,
  };
  const others = localServices({ log });
  others.add("tool-runner", tools.replicas[0] as Service);
  const peers = others.peersOf("chat");
  const model = scriptedModel();
  const now = () => new Date();
  const services: Service[] = [];
  /** Another process of the service. */
  async function start(roles: readonly ProcessRole[] = ROLES): Promise<Service> {
    const host = { log, now: () => now().getTime(), peers };
    const overrides = setup.realModels ? {} : { modelOf: () => model.model };
    const service = resources.use(await startService({ ...config, roles: new Set(roles) }, host, overrides));
    services.push(service);
    return service;
  }
  for (const roles of setup.instances ?? [ROLES]) await start(roles);
  const turns = createTurns({
    pool,
    queuePool,
    queues: turnQueues(config.turnsPerWorkspace),
    bus,
    now,
    onError: console.error,
  });
  const { workspaceId } = tools;
  const userId = randomUUID();
  const events = async (chat: number) => (await readEvents(pool, chat, 0, ALL)).events.map(({ event }) => event);
  /** A request with the rig's workspace, user and default assistant. */
  const request = (chatId: string, message: string, more?: Partial<TurnRequest>): TurnRequest => ({
    lane: "chat",
    workspaceId,
    workspace: "acme",
    chatId,
    owner: userId,
    userId,
    message,
    assistant: "",
    clientMessageId: "",
    fileId: "",
    testMode: false,
    readOnly: false,
    hop: 1,
    ...more,
  });
  async function saveAssistant(name: string, definition: MessageInitShape<typeof AssistantDefinitionSchema> = {}) {
    const json = toJson(AssistantDefinitionSchema, create(AssistantDefinitionSchema, definition));
    await pool.query(
      `insert into chat.assistant (workspace_id, name, version, definition, saved_at, saved_by)
       select $1, $2, coalesce(max(version), 0) + 1, $3, now(), 'rig' from chat.assistant
       where workspace_id = $1 and name = $2`,
      [workspaceId, name, JSON.stringify(json)],
    );
  }
  await saveAssistant("helper", { instructions: "Help." });
  await pool.query("insert into chat.settings (workspace_id, default_assistant) values ($1, 'helper')", [workspaceId]);
  const owned = opening.move();
  return {
    pool,
    bus,
    tools,
    model,
    turns,
    config,
    services,
    /** Adds a model of the workspace at a server that speaks OpenAI's API. */
    async saveModel(name: string, baseUrl: string) {
      await pool.query(
        `insert into chat.model (workspace_id, name, provider, base_url, model, reads_files, saved_at, saved_by)
         values ($1, $2, 'openai_compatible', $3, 'm-1', false, now(), 'rig')`,
        [workspaceId, name, baseUrl],
      );
    },
    saveAssistant,
    request,
    /** Starts a turn that must be accepted. */
    async send(...sent: Parameters<typeof request>) {
      return started(await turns.start(request(...sent)));
    },
    events,
    history: (chat: number) => readMessagesAfter(pool, chat, { after: 0, ...ALL }),
    /** Waits for the done event of a turn. */
    async untilDone(turn: TurnRef) {
      return eventually(async () => {
        const { events: found } = await readEvents(pool, turn.chat, 0, ALL);
        const end = found.find((row) => row.turn === turn.id && row.event.event.case === "done");
        return end?.event.event.case === "done" && end.event.event.value;
      });
    },
    async status(turn: TurnRef): Promise<string> {
      return (await pool.query("select status from chat.turn where id = $1", [turn.id])).rows[0]?.status;
    },
    start,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The turn of an outcome that must be one. */
export function started(outcome: StartOutcome): TurnRef {
  if (!("turn" in outcome)) throw new Error(`the turn did not start: ${outcome.kind}`);
  return outcome.turn;
}

/** The text of all assistant messages of the events. */
export function streamedText(events: readonly ChatEvent[]): string {
  return events
    .map(({ event }) => (event.case === "message" && event.value.role === "assistant" ? event.value.content : ""))
    .join("");
}

export function kindsOf(events: readonly ChatEvent[]): string[] {
  return events.map(({ event }) => (event.case === "message" ? event.value.role : (event.case ?? "")));
}

/** Fails unless the ids are 1, 2, 3 and so on. */
export function expectDense(events: readonly ChatEvent[], first = 1): void {
  const ids = events.map(({ id }) => Number(id));
  const wanted = ids.map((_, index) => first + index);
  if (ids.join() !== wanted.join()) throw new Error(`event ids have gaps or repeats: ${ids.join()}`);
}

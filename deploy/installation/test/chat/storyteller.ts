import { plain, type RecordedRequest, type Script } from "../../../../services/chat/test/model-servers/script.ts";
import { startOpenAiServer } from "../../../../services/chat/test/model-servers/server.ts";
import type { Setup, TopologyKind } from "../installation.ts";
import type { RunningToolgate } from "../running-toolgate.ts";
import { type ChatFrontDoor, openChat, saveAssistant, saveModel } from "./front-door.ts";

const WORDS = 60;
export const STORY = Array.from({ length: WORDS }, (_, index) => `word-${index}`).join(" ");
export const LAST_WORD = `word-${WORDS - 1}`;

/**
 * A model that answers "greet Ada" with the tool greet, "greet Ada and tell a story" with both, and everything else
 * with a story, which the test can pause.
 */
export interface Storyteller extends AsyncDisposable {
  /** From now on each story waits before the word with this number. */
  pauseAt(word: number): void;
  /** Lets all stories run to their end. */
  finish(): void;
  /** Stories that are being told. */
  open(): number;
}

/** An installation whose default assistant is the storyteller. */
export async function openStories(kind: TopologyKind, setup: Setup = {}): Promise<[ChatFrontDoor, Storyteller]> {
  await using resources = new AsyncDisposableStack();
  const door = resources.use(await openChat(kind, setup));
  const story = await startStoryteller(door.toolgate);
  const owned = resources.move();
  return [
    door,
    {
      ...story,
      async [Symbol.asyncDispose]() {
        await owned.disposeAsync();
        await story[Symbol.asyncDispose]();
      },
    },
  ];
}

/** Makes the storyteller the default assistant of an installation that has the tool greet. */
export async function startStoryteller(toolgate: RunningToolgate): Promise<Storyteller> {
  await using resources = new AsyncDisposableStack();
  const server = resources.use(await startOpenAiServer());
  await saveModel(toolgate, "storyteller", server.baseUrl);
  await saveAssistant(toolgate, ["greet"], ["storyteller"]);
  let pausedAt = Number.POSITIVE_INFINITY;
  let wake = Promise.withResolvers<void>();
  const move = (word: number) => {
    pausedAt = word;
    wake.resolve();
    wake = Promise.withResolvers();
  };
  server.answer((request) => ({
    async before(word) {
      while (word >= pausedAt) await wake.promise;
    },
    ...answerTo(request),
  }));
  const owned = resources.move();
  return {
    pauseAt: move,
    finish: () => move(Number.POSITIVE_INFINITY),
    open: () => server.open(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function answerTo({ body: { messages } }: RecordedRequest): Script {
  // Another worker, which continues an answer, says so in a message of its own.
  const at = messages.findLastIndex(({ role, content }) => role === "user" && !/interrupted/.test(plain(content)));
  const asked = plain(messages[at]?.content);
  const [, name] = /^greet (\w+)/.exec(asked) ?? [];
  if (!name) return { text: STORY };
  const result = messages.slice(at).find(({ role }) => role === "tool");
  if (!result) return { toolCalls: [{ id: "call_1", name: "greet", args: JSON.stringify({ name }) }] };
  const greeting = `<p>${JSON.parse(plain(result.content)).greeting}</p>`;
  return { text: asked.includes("story") ? `${greeting} ${STORY}` : greeting };
}

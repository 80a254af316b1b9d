import { plain, type RecordedRequest, type Script } from "../../../../services/chat/test/model-servers/script.ts";
import { startOpenAiServer } from "../../../../services/chat/test/model-servers/server.ts";
import { type ChatFrontDoor, chatsOf, saveAssistant, saveModel } from "../chat/front-door.ts";
import type { RunningToolgate } from "../running-toolgate.ts";

const FIRST = "I will look that up for you, just a moment.";
const SECOND = Array.from({ length: 40 }, (_, n) => `word-${n}`).join(" ");
/** Tells the outside that it runs. */
const VISIT = {
  handler: "export default async ({ url }, ctx) => (await ctx.fetch(url, { method: 'POST' }), { success: true });",
  parameters: { type: "object", properties: { url: { type: "string" } }, required: ["url"] },
};

export const messageOf = (number: number) => `Number ${number}`;
export const chatIdOf = (number: number) => `chat-${number}`;
/** Where the tool of an answer tells that it runs. */
export const visitOf = (number: number) => `/visit/${number}`;

/** The chats of a workspace whose assistant calls a tool once for each message, and takes a few seconds to answer. */
export async function openLoadedChats(
  toolgate: RunningToolgate,
  resources: AsyncDisposableStack,
): Promise<ChatFrontDoor> {
  const model = resources.use(await startOpenAiServer());
  model.answer((request) => scriptOf(request, toolgate.receiver.url));
  await toolgate.saveTool("visit", VISIT);
  await saveModel(toolgate, "local", model.baseUrl);
  await saveAssistant(toolgate, ["visit"], ["local"]);
  return chatsOf(toolgate);
}

/** Each answer has its own pace, so that kills find the answers in all their phases. */
function scriptOf({ body }: RecordedRequest, receiverUrl: string): Script {
  const message = plain(body.messages.find(({ role }) => role === "user")?.content);
  const number = Number(message.split(" ").at(-1));
  const pace = { tokensPerSecond: 12 + (number % 7) * 4, firstTokenMs: (number % 5) * 40 };
  if (body.messages.some(({ role }) => role === "tool")) return { ...pace, text: SECOND };
  const args = JSON.stringify({ url: receiverUrl + visitOf(number) });
  return { ...pace, text: FIRST, toolCalls: [{ id: "c1", name: "visit", args }] };
}

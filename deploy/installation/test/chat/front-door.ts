import type { Setup, TopologyKind } from "../installation.ts";
import { type CallResponse, type RunningToolgate, runToolgate } from "../running-toolgate.ts";
import { type EventStream, openStream } from "./client.ts";

export const TOOLS: Record<string, Record<string, unknown>> = {
  greet: {
    external_api: true,
    description: "Greets a person.",
    parameters: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    handler: 'export default async ({ name }) => ({ greeting: "Hello, " + name });',
  },
  long_report: {
    description: "Returns many lines.",
    parameters: { type: "object", properties: {} },
    // As many lines as the built-in model shows.
    handler: 'export default async () => ({ lines: Array.from({ length: 20 }, (_, n) => "line number " + n) });',
  },
  broken: {
    description: "Always fails.",
    parameters: { type: "object", properties: {} },
    handler: 'export default async () => { throw new Error("internal detail"); };',
  },
};

const SUGGESTIONS = ["greet Ada", "run long_report"];

export interface ChatUser {
  /** The header with a JWT. */
  headers: { authorization: string };
}

/** The chats of a workspace, as its administrator sees them. Disposes of the installation. */
export interface ChatFrontDoor extends AsyncDisposable {
  toolgate: RunningToolgate;
  workspaceId: string;
  tenant: string;
  /** The workspace's administrator. */
  user: ChatUser;
  /** A path with the workspace and these parameters. */
  url(path: string, parameters: Record<string, string>): string;
  stream(parameters: Record<string, string>, headers?: Record<string, string>): Promise<EventStream>;
  resume(parameters: Record<string, string>, headers?: Record<string, string>): Promise<EventStream>;
  get(path: string, parameters: Record<string, string>, headers?: Record<string, string>): Promise<CallResponse>;
  post(path: string, body: Record<string, unknown>, headers?: Record<string, string>): Promise<CallResponse>;
  // biome-ignore lint/suspicious/noExplicitAny: JSON.
  history(chatId: string): Promise<any[]>;
}

/** An installation whose workspace has an assistant with tools and the built-in model. */
export async function openChat(kind: TopologyKind, setup: Setup = {}): Promise<ChatFrontDoor> {
  const toolgate = await runToolgate(kind, setup);
  for (const [name, definition] of Object.entries(TOOLS)) await toolgate.saveTool(name, definition);
  await saveAssistant(toolgate, Object.keys(TOOLS));
  return chatsOf(toolgate);
}

export async function signIn(
  { request }: Pick<RunningToolgate, "request">,
  { email, password }: { email: string; password: string },
): Promise<ChatUser> {
  const { status, body, text } = await request("/toolgate.key_auth.v1.SessionService/Login", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email, password, tokenKind: "TOKEN_KIND_JWT" }),
  });
  if (status !== 200) throw new Error(`no login: ${status} ${text}`);
  return { headers: { authorization: `Bearer ${body.token}` } };
}

export async function chatsOf(toolgate: RunningToolgate): Promise<ChatFrontDoor> {
  const { baseUrl, pool, account } = toolgate;
  const tenant = account.workspace;
  const { rows } = await pool.query("select id from key_auth.workspaces where code = $1", [tenant]);
  const workspaceId: string = rows[0].id;
  const user = await signIn(toolgate, account);
  const url = (path: string, parameters: Record<string, string>) =>
    `${path}?${new URLSearchParams({ tenant, ...parameters })}`;
  const open = (path: string, parameters: Record<string, string>, headers: Record<string, string> = user.headers) =>
    openStream(baseUrl + url(path, parameters), headers);
  const get: ChatFrontDoor["get"] = (path, parameters, headers = user.headers) =>
    toolgate.request(url(path, parameters), { headers });
  return {
    toolgate,
    workspaceId,
    tenant,
    user,
    url,
    stream: (parameters, headers) => open("/chat/stream", parameters, headers),
    resume: (parameters, headers) => open("/chat/resume", parameters, headers),
    get,
    post: (path, body, headers = user.headers) =>
      toolgate.request(path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify({ tenant, ...body }),
      }),
    async history(chatId) {
      const { status, body, text } = await get("/chat/history", { chat_id: chatId });
      if (status !== 200) throw new Error(`history: ${status} ${text}`);
      return body.messages as unknown[];
    },
    [Symbol.asyncDispose]: () => toolgate[Symbol.asyncDispose](),
  };
}

export async function saveModel({ manage }: RunningToolgate, name: string, baseUrl: string): Promise<void> {
  const provider = "MODEL_PROVIDER_OPENAI_COMPATIBLE";
  await manage("chat.v1.ModelService/SaveModel", { name, provider, baseUrl, model: "m" });
}

/** Makes an assistant with these models, or the built-in one, the default of the workspace. */
export async function saveAssistant(
  { manage }: RunningToolgate,
  tools: readonly string[],
  models: readonly string[] = [],
): Promise<void> {
  const definition = { instructions: "Help.", tools, models, suggestions: SUGGESTIONS };
  await manage("chat.v1.AssistantService/SaveAssistant", { name: "tester", definition });
  await manage("chat.v1.AssistantService/SetDefaultAssistant", { name: "tester" });
}

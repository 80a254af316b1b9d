import type { JsonObject } from "@bufbuild/protobuf";
import { type Client, Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { type Proposal, ProposalService, ProposalState } from "@toolgate/gen/toolgate/tool_runner/v1/proposal_pb";
import type { Tool } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { argumentsFault } from "../domain/assistants/builder-tools.ts";
import { type CallOutcome, cut, notRun } from "../domain/tool-result.ts";

/** The chat whose user a proposal is for. */
interface BuilderChat {
  workspaceId: string;
  userId: string;
  chatId: string;
}

/** Makes a call of the builder assistant, whose arguments are the model's own JSON text. */
export type CallBuilderTool = (chat: BuilderChat, call: { tool: string; args: string }) => Promise<CallOutcome>;

type Answer = { result: unknown; proposalId?: string };
type Answers = (client: Client<typeof ProposalService>, chat: BuilderChat, args: JsonObject) => Promise<Answer>;

const TIMEOUT_MS = 20_000;
const MAX_LISTED_CHARACTERS = 200;
/** What the model can do something about. */
const REFUSALS: ReadonlySet<Code> = new Set([Code.InvalidArgument, Code.NotFound, Code.FailedPrecondition]);

export function createCallBuilderTool(toolRunner: Transport): CallBuilderTool {
  const client = createClient(ProposalService, toolRunner);
  return async (chat, { tool, args: text }) => {
    const args: JsonObject = text.trim() === "" ? {} : JSON.parse(text);
    const fault = argumentsFault(tool, args);
    const answers = ANSWERS[tool];
    if (fault !== undefined || !answers) return notRun(`The tool did not run: ${fault}`);
    const startedAt = performance.now();
    try {
      const { result, ...proposal } = await answers(client, chat, args);
      const durationMs = Math.round(performance.now() - startedAt);
      return { status: "succeeded", result: cut(JSON.stringify(result)), durationMs, suppressed: [], ...proposal };
    } catch (error) {
      const { code, rawMessage } = ConnectError.from(error);
      return notRun(REFUSALS.has(code) ? rawMessage : "The tool could not be reached.");
    }
  };
}

const ANSWERS: Readonly<Record<string, Answers>> = {
  async list_tools(client, { workspaceId }, { search = "" }) {
    const { tools } = await client.findTools({ workspaceId, search: String(search) }, { timeoutMs: TIMEOUT_MS });
    return { result: tools.map(lineOf) };
  },
  async get_tool(client, { workspaceId }, { tool: name }) {
    const { tool } = await client.readTool({ workspaceId, name: String(name) }, { timeoutMs: TIMEOUT_MS });
    return { result: { name, version: tool?.version, definition: tool?.definition } };
  },
  propose_release: (client, chat, { tool, flags }) => {
    const changes = Object.entries(flags as JsonObject).map(([name, isSet]) => [name, isSet ? true : null]);
    return propose(client, chat, String(tool), Object.fromEntries(changes));
  },
  propose_change: (client, chat, { tool, changes }) => propose(client, chat, String(tool), changes as JsonObject),
  async last_proposal(client, chat) {
    const { proposal } = await client.readLastProposal(chat, { timeoutMs: TIMEOUT_MS });
    return { result: proposal ? stateOf(proposal) : { state: "none" } };
  },
};

/** Short enough that a hundred of them fit into a result. */
function lineOf({ name, version, definition }: Tool) {
  const description = String(definition?.description ?? "").slice(0, MAX_LISTED_CHARACTERS);
  return { name, version, ...definition, description };
}

async function propose(
  client: Client<typeof ProposalService>,
  chat: BuilderChat,
  tool: string,
  changes: JsonObject,
): Promise<Answer> {
  const { workspaceId, userId, chatId } = chat;
  const request = { workspaceId, userId, chatId, tool, changes };
  const { proposalId } = await client.createProposal(request, { timeoutMs: TIMEOUT_MS });
  return { result: { state: "proposed; the user decides" }, proposalId };
}

function stateOf({ tool, state, savedVersion }: Proposal) {
  if (state === ProposalState.CONFIRMED) return { tool, state: "confirmed", version: savedVersion };
  if (state === ProposalState.OPEN) return { tool, state: "open: the user has not confirmed it" };
  return { tool, state: state === ProposalState.EXPIRED ? "expired" : "void: the tool was changed" };
}

import { createClient } from "@connectrpc/connect";
import { useQuery as useConnectQuery } from "@connectrpc/connect-query";
import { useQuery } from "@tanstack/react-query";
import { AssistantService } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import type { HookTarget } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { readAllTools } from "../../rpc/all-tools.ts";
import { transport } from "../../rpc/transport.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import { HOOKS } from "../../text/en/webhooks/hooks.ts";

export interface Target {
  kind: "tool" | "assistant";
  name: string;
  /** Why a hook cannot run it; empty when it can. */
  refusal: string;
  /** What a tool declares; undefined for an assistant, which takes anything. */
  parameters: readonly Parameter[] | undefined;
}

export interface Parameter {
  name: string;
  type: string;
  isRequired: boolean;
}

/** [IN-48] [IN-49] [IN-51] The rule of the server, which decides in the end. */
function refusalOf(definition: Readonly<Record<string, unknown>>): string {
  if (definition.inbound_hook !== true && definition.external_api !== true) return HOOKS.isNotReleased;
  return definition.async === true ? HOOKS.isAsync : "";
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** The arguments that a tool's definition declares. */
function parametersOf(definition: Readonly<Record<string, unknown>>): Parameter[] {
  const { properties, required } = isObject(definition.parameters) ? definition.parameters : {};
  if (!isObject(properties)) return [];
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    type: isObject(schema) && typeof schema.type === "string" ? schema.type : "",
    isRequired: Array.isArray(required) && required.includes(name),
  }));
}

async function readTools(workspace: string): Promise<Target[]> {
  const tools = await readAllTools(workspace, {});
  return tools.map(({ name, definition = {} }) => ({
    kind: "tool",
    name,
    refusal: refusalOf(definition),
    parameters: parametersOf(definition),
  }));
}

async function readAssistants(workspace: string): Promise<Target[]> {
  const { assistants } = await createClient(AssistantService, transport).listAssistants({ workspace });
  return assistants.map(({ name, definition }) => ({
    kind: "assistant",
    name,
    refusal: definition?.inboundHook === true ? "" : HOOKS.isNotReleased,
    parameters: undefined,
  }));
}

/** What the target of a hook declares: nothing known of an assistant, and of a tool that is gone. */
export function useParametersOf(target: HookTarget | undefined) {
  const workspace = useWorkspace();
  const { case: kind, value: name = "" } = target?.target ?? {};
  return useConnectQuery(
    ToolService.method.getTool,
    { workspace, name },
    { enabled: kind === "tool", retry: false, select: ({ tool }) => parametersOf(tool?.definition ?? {}) },
  );
}

/** The tools and assistants of the workspace, with what keeps a hook from running them. */
export function useTargets() {
  const workspace = useWorkspace();
  return useQuery({
    queryKey: ["hook targets", workspace],
    queryFn: async () => (await Promise.all([readTools(workspace), readAssistants(workspace)])).flat(),
  });
}

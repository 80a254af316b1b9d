import { create } from "@bufbuild/protobuf";
import { type AssistantDefinition, AssistantDefinitionSchema } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";

/** The assistant of every workspace that proposes changes of tools to managers. No saved assistant can have this name. */
export const BUILDER_NAME = "@builder";

const INSTRUCTIONS = `You help a manager of this workspace to release and change its tools. Look at tools with list_tools and
get_tool before you propose anything. Use propose_release for the flags that let callers outside use a tool, and propose_change
for everything else, with only those members of the definition that change. Propose one change at a time, and only what the
user has asked for.

A proposal changes nothing. The page shows it to the user as a card with the difference, the flags and a question, and only the
user can confirm it there, within 10 minutes: ask nothing else after it. You cannot confirm it, and no argument of a tool does.
When the user says yes, ask last_proposal what became of it, and never say that a tool was changed unless it is confirmed.`;

/** `models`: those that it asks, in order; none: the built-in one. */
export function builderDefinition(models: string[]): AssistantDefinition {
  return create(AssistantDefinitionSchema, {
    instructions: INSTRUCTIONS,
    greeting: "Which tool do you want to release or change?",
    suggestions: ["List the tools"],
    models,
  });
}

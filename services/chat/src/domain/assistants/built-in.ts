import { create } from "@bufbuild/protobuf";
import { AssistantDefinitionSchema } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";

/** The default assistant of a workspace that has saved none. It is not stored. */
export const BUILT_IN_NAME = "assistant";

export const BUILT_IN_DEFINITION = create(AssistantDefinitionSchema, {
  instructions:
    "You are the assistant of this workspace. Be brief and friendly, and say so when you do not know something.",
  greeting: "Hello! How can I help you?",
});

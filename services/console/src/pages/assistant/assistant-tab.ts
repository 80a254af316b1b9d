import type { Assistant } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";

/** What a tab of an assistant is given. */
export interface AssistantTabProps {
  assistant: Assistant;
  /** Reads the assistant again. */
  onChanged: () => void;
}

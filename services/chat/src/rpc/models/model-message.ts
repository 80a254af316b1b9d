import { ModelProvider } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import { timestampOf } from "@toolgate/service-host/time";
import type { ModelRow, ModelServer } from "../../store/model-servers.ts";

export function modelMessage({ provider, savedAt, ...row }: ModelRow) {
  const value = provider === "anthropic" ? ModelProvider.ANTHROPIC : ModelProvider.OPENAI_COMPATIBLE;
  return { ...row, provider: value, savedAt: timestampOf(savedAt) };
}

/** Undefined for an unknown provider. */
export function providerOf(value: ModelProvider): ModelServer["provider"] | undefined {
  if (value === ModelProvider.ANTHROPIC) return "anthropic";
  return value === ModelProvider.OPENAI_COMPATIBLE ? "openai_compatible" : undefined;
}

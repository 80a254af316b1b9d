import type { LanguageModelV4CallOptions, LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { isJsonObject } from "@toolgate/rules/json-object";
import type { ModelFile, ModelMessage, ModelRequest, ToolCall } from "../model.ts";

/** Works with every server; continuing an assistant's message in place does not. */
const CONTINUE =
  "Your answer was interrupted after the text above, which the user has already seen. Continue it exactly where it stops, even within a word or an HTML element. Repeat nothing and add no remark about the interruption.";

/** The request as the AI SDK takes it. */
export function toCallOptions(request: ModelRequest, readsFiles: boolean): LanguageModelV4CallOptions {
  const { instructions, tools, partial, maxOutputTokens } = request;
  const prompt: LanguageModelV4Prompt = [];
  if (instructions !== "") prompt.push({ role: "system", content: instructions });
  // Servers want a user's message first; a history that was cut may begin in the middle of an answer.
  const first = Math.max(
    0,
    request.messages.findIndex((message) => message.role === "user"),
  );
  for (const message of request.messages.slice(first)) {
    const converted = toMessage(message, readsFiles);
    if (converted.content.length > 0) prompt.push(converted);
  }
  if (partial !== undefined && partial.trim() !== "") {
    prompt.push({ role: "assistant", content: [{ type: "text", text: partial }] });
    prompt.push({ role: "user", content: [{ type: "text", text: CONTINUE }] });
  }
  return {
    prompt,
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, parameters }) => ({
            type: "function" as const,
            name,
            description,
            inputSchema: parameters,
          })),
        }),
  };
}

function toMessage(message: ModelMessage, readsFiles: boolean): LanguageModelV4Message {
  switch (message.role) {
    case "user": {
      const files = (message.files ?? []).map((file) => toFilePart(file, readsFiles));
      return { role: "user", content: [...toText(message.text), ...files] };
    }
    case "assistant": {
      const calls = (message.toolCalls ?? []).map((call) => ({
        type: "tool-call" as const,
        toolCallId: call.id,
        toolName: call.name,
        input: argumentsOf(call),
      }));
      return { role: "assistant", content: [...toText(message.text), ...calls] };
    }
    case "tool": {
      const content = message.results.map(({ id, name, output, failed }) => ({
        type: "tool-result" as const,
        toolCallId: id,
        toolName: name,
        output: { type: failed ? ("error-text" as const) : ("text" as const), value: output },
      }));
      return { role: "tool", content };
    }
  }
}

function toText(text: string) {
  return text.trim() === "" ? [] : [{ type: "text" as const, text }];
}

function toFilePart({ name, mediaType, data }: ModelFile, readsFiles: boolean) {
  const readable = readsFiles && (mediaType.startsWith("image/") || mediaType === "application/pdf");
  if (!readable)
    return {
      type: "text" as const,
      text: `[The user attached the file "${name}" (${mediaType}), which you cannot read.]`,
    };
  return { type: "file" as const, filename: name, mediaType, data: { type: "data" as const, data } };
}

/** Servers refuse arguments that are not a JSON object, even if their own model wrote them. */
function argumentsOf({ args }: ToolCall): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(args);
    return isJsonObject(value) ? { ...value } : {};
  } catch {
    return {};
  }
}

/**
 * A language model. `stream` asks it once and yields its answer: `started`, then text and tool calls in the model's
 * order, then `finished`. It throws a ModelError when the answer cannot be completed, and the signal's reason when the
 * signal fires; the connection to the model's server is closed by then. A consumer that stops reading closes it too.
 */
export type Model = {
  /** The workspace's name for it, as receipts show it. */
  name: string;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
};

export type ModelRequest = {
  instructions: string;
  /** Oldest first. The results of an assistant's tool calls follow it. */
  messages: readonly ModelMessage[];
  tools: readonly ModelTool[];
  /** Text of this answer that was already streamed, by a worker that has died: the model is asked to continue it. */
  partial?: string;
  maxOutputTokens?: number;
};

export type ModelMessage =
  | { role: "user"; text: string; files?: readonly ModelFile[] }
  | { role: "assistant"; text: string; toolCalls?: readonly ToolCall[] }
  | { role: "tool"; results: readonly ToolResult[] };

/** An image or a PDF file. A model that cannot read files is told only its name. */
export type ModelFile = { name: string; mediaType: string; data: Uint8Array };

/** `parameters` is a JSON schema of an object. */
export type ModelTool = { name: string; description: string; parameters: Record<string, unknown> };

/** `args` is complete, but unchecked: the model's own JSON text, which may be malformed. */
export type ToolCall = { id: string; name: string; args: string; extra?: ToolCallExtra };

/** What the model's server wants back with a call: its id, members that nobody here knows, and the model's reasoning. */
export type ToolCallExtra = { id?: string; members?: Record<string, unknown>; reasoning?: string };

/** What the model is told about a call: a JSON value as text, or plain text. */
export type ToolResult = { id: string; name: string; output: string; failed: boolean };

export type ModelEvent =
  | { kind: "started"; model: string }
  | { kind: "text"; text: string }
  | ({ kind: "tool_call" } & ToolCall)
  | { kind: "finished"; usage: ModelUsage };

/** In tokens; 0 when the model's server does not say. */
type ModelUsage = { inputTokens: number; outputTokens: number };

/**
 * `refused`: the server refuses the request, such as for its key or its length. `rate_limited`, `overloaded`: it may
 * serve it later. `timeout`: a time limit has passed. `cut`: the connection closed in the middle. `invalid`: its
 * response is not what its API promises. `unreachable`: there is no connection, or its address is not allowed.
 */
export type ModelErrorKind = "refused" | "rate_limited" | "overloaded" | "timeout" | "cut" | "invalid" | "unreachable";

/** Why a model did not answer. The message is for logs: it contains no key and nothing that the server sent. */
export class ModelError extends Error {
  readonly kind: ModelErrorKind;
  /** No text and no tool call was yielded, so that another model may answer instead. */
  readonly beforeOutput: boolean;
  /** The HTTP status and the error's code, such as model_not_found, of a response that refused the request. */
  readonly response: { status: number; code: string | undefined } | undefined;

  constructor(
    kind: ModelErrorKind,
    message: string,
    { beforeOutput, response }: Pick<ModelError, "beforeOutput"> & Partial<Pick<ModelError, "response">>,
  ) {
    super(message);
    this.name = "ModelError";
    this.kind = kind;
    this.beforeOutput = beforeOutput;
    this.response = response;
  }
}

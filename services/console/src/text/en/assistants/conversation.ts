export const CONVERSATION = {
  messages: "Messages",
  you: "You",
  assistant: "Assistant",
  yourMessage: "Your message",
  send: "Send",
  stop: "Stop",
  attach: "Attach a file",
  detach: (name: string) => `Remove ${name}`,
  hint: "Enter sends, Shift and Enter begin a new line.",
  tooLarge: "A file may have at most 20 MB.",
  waits: "Sent when the answer has ended.",
  thinking: "Thinking…",
  using: (tool: string) => `Using ${tool}…`,
  reconnecting: "Connection lost. Reconnecting…",
  loading: "Loading…",
  older: "Older messages",
  suggestions: "Suggested messages",
  failed: "Something went wrong. Try again.",
  running: "running",
  succeeded: "done",
  toolFailed: "failed",
  arguments: "Arguments",
  result: "Result",
  noResult: "Not there yet.",
  notKept: "What it was asked and answered is no longer kept.",
  suppressed: (tools: readonly string[]) => `Test mode held back writes of ${tools.join(", ")}.`,
  unknown: "Its process was lost. Whether it took effect is not known.",
  stopped: "stopped",
} as const;

/** What a turn used, in one line. */
export function receiptText(receipt: {
  model: string;
  input_tokens: number;
  output_tokens: number;
  duration_ms: number;
  stopped: boolean;
}): string {
  const { model, input_tokens: input, output_tokens: output, duration_ms: duration, stopped } = receipt;
  const seconds = (duration / 1000).toLocaleString("en", { maximumFractionDigits: 1 });
  const tokens = `${input.toLocaleString("en")} + ${output.toLocaleString("en")} tokens`;
  return [model, tokens, `${seconds} s`, ...(stopped ? [CONVERSATION.stopped] : [])].join(" · ");
}

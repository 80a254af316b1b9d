/** What a turn used. */
export interface Receipt {
  model: string;
  input_tokens: number;
  output_tokens: number;
  duration_ms: number;
  tools: { tool: string; success: boolean; duration_ms: number }[];
  /** Tools whose writes test mode suppressed. */
  suppressed: string[];
  /** The user stopped the answer. */
  stopped: boolean;
}

/** The data of each kind of event, as the server sends it. */
export interface EventData {
  /** Only from `send`: the server has stored the message. Its id is the message's own. */
  sent: Record<string, never>;
  /** `content`: a part of the answer's HTML; the parts in order are the answer. Plain text for the role user. */
  message: { role: "user" | "assistant"; content: string; created?: string };
  tool_start: { id: string; tool: string };
  /** `proposal_id`: of the change that the builder assistant of the console proposes. */
  tool_complete: { id: string; tool: string; success: boolean; duration_ms: number; proposal_id?: string };
  /** Messages that the user may click instead of typing. */
  suggestions: { items: string[] };
  /** The answer failed. `done` follows. */
  error: { error: { code: string; message: string } };
  /** The last event. `count`: message events of a resumed stream, counted from its last connection. */
  done: { resumed: boolean; count?: number; receipt?: Receipt };
}

/** An event of a chat. Ids grow, and are the same whenever an event is sent again; 0 for answers that were not streamed. */
export type ChatEvent = {
  [Kind in keyof EventData]: { id: number; event: Kind; data: EventData[Kind] };
}[keyof EventData];

/** One message of the history, oldest first. `content`: HTML of the assistant, plain text of the user. */
export interface HistoryMessage {
  role: "user" | "assistant";
  content: string;
  /** ISO 8601, in UTC. */
  created: string;
  /** Names of the attached files. */
  files?: string[];
}

export interface HistoryPage {
  messages: HistoryMessage[];
  /** Pass as `before` to read older messages. Null or absent when there are none. */
  next_before?: number | null;
  /** In a chat without messages, what its assistant says first, and which messages it suggests: plain text. */
  greeting?: string;
  suggestions?: string[];
}

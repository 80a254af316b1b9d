import type { Dashboard } from "./panel.ts";
import { highest, quantiles, rate, total } from "./queries.ts";

const QUEUES = 'queue=~"chat turns|hook turns"';

/** Assistants: answers, models, and the streams that show them. */
export const chat: Dashboard = {
  name: "chat",
  title: "chat",
  rows: [
    {
      title: "Answers",
      panels: [
        { title: "Answers that ended", unit: "ops", queries: [rate("toolgate_turns_ended_total", "lane, outcome")] },
        { title: "First text", unit: "s", queries: quantiles("toolgate_turn_first_output_seconds", "", "lane") },
        { title: "Turns that run", unit: "short", queries: [total("toolgate_turns_running", "lane")] },
        { title: "Turns that wait", unit: "short", queries: [highest("toolgate_queue_due", "queue", QUEUES)] },
        {
          title: "Taken over from another worker",
          unit: "ops",
          queries: [rate("toolgate_turn_takeovers_total", "lane")],
        },
        { title: "Calls of tools", unit: "ops", queries: [rate("toolgate_chat_tool_calls_total", "outcome")] },
      ],
    },
    {
      title: "Models",
      panels: [
        { title: "Tokens", unit: "short", queries: [rate("toolgate_model_tokens_total", "kind")] },
        {
          title: "Requests that failed",
          unit: "ops",
          queries: [rate("toolgate_model_errors_total", "provider, kind")],
        },
      ],
    },
    {
      title: "Streams",
      panels: [
        { title: "Open streams", unit: "short", queries: [total("toolgate_chat_streams", "pod")] },
        {
          title: "Streams that ended",
          unit: "ops",
          queries: [rate("toolgate_chat_streams_ended_total", "kind, outcome")],
        },
        { title: "Readers of chats", unit: "short", queries: [total("toolgate_chat_followers", "pod")] },
        { title: "Gaps of live events", unit: "ops", queries: [rate("toolgate_chat_event_gaps_total", "")] },
      ],
    },
  ],
};

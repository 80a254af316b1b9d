import { create } from "@bufbuild/protobuf";
import { type TurnReceipt, TurnReceiptSchema } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { CallRecord } from "./turn.ts";

interface UsedByTurn {
  model: string;
  inputTokens: number;
  outputTokens: number;
  durationMs: number;
  calls: Iterable<CallRecord>;
  stopped: boolean;
}

/** What a turn used. */
export function receiptOf({ calls, ...used }: UsedByTurn): TurnReceipt {
  const made = [...calls];
  return create(TurnReceiptSchema, {
    ...used,
    durationMs: Math.max(0, Math.round(used.durationMs)),
    tools: made.map(({ tool, status, durationMs }) => ({ tool, success: status === "succeeded", durationMs })),
    suppressed: [...new Set(made.flatMap((call) => call.suppressed))],
  });
}

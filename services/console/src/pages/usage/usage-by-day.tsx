import type { Cost, ModelUsage } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import { USAGE } from "../../text/en/assistants/chats.ts";
import { Part } from "../../ui/page/part.tsx";
import { Table } from "../../ui/page/table.tsx";
import { costText } from "../models/price.ts";
import { DailyBars } from "./daily-bars.tsx";
import styles from "./usage.module.css";

interface UsageByDayProps {
  days: readonly string[];
  usage: readonly ModelUsage[];
  costs: readonly Cost[];
  /** Tokens per day; 0: no limit. */
  budget: bigint;
}

const COLUMNS = [USAGE.day, USAGE.model, USAGE.turns, USAGE.input, USAGE.output, USAGE.cost];
const number = (count: bigint) => count.toLocaleString("en");
const costsText = (costs: readonly Cost[]) => costs.map(costText).join(" + ");

export function UsageByDay({ days, usage, costs, budget }: UsageByDayProps) {
  const tokens = new Map<string, bigint>();
  for (const { day, inputTokens, outputTokens } of usage)
    tokens.set(day, (tokens.get(day) ?? 0n) + inputTokens + outputTokens);
  const rows = usage.toReversed().map(({ day, model, turns, inputTokens, outputTokens, costs: ofModel }) => ({
    key: `${day} ${model}`,
    cells: [day, model, number(turns), number(inputTokens), number(outputTokens), costsText(ofModel)],
  }));
  return (
    <Part title={USAGE.byDay}>
      {usage.length === 0 && <p>{USAGE.nothing}</p>}
      {usage.length > 0 && <DailyBars days={days} tokens={tokens} budget={budget} />}
      {costs.length > 0 && (
        <p>
          {USAGE.total}: {costsText(costs)}
        </p>
      )}
      {usage.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be within reach of the keyboard
        <section className={styles.table} aria-label={USAGE.table} tabIndex={0}>
          <Table columns={COLUMNS} rows={rows} />
        </section>
      )}
    </Part>
  );
}

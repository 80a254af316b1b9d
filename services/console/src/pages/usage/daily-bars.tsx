import { USAGE } from "../../text/en/assistants/chats.ts";
import styles from "./usage.module.css";

const HEIGHT = 80;
const WIDTH = 600;

interface DailyBarsProps {
  days: readonly string[];
  tokens: ReadonlyMap<string, bigint>;
  /** A line across; 0: none. */
  budget: bigint;
}

/** A bar for each day, as high as its tokens. The table below has the numbers. */
export function DailyBars({ days, tokens, budget }: DailyBarsProps) {
  const highest = Math.max(1, Number(budget), ...days.map((day) => Number(tokens.get(day) ?? 0n)));
  const heightOf = (count: bigint) => (count === 0n ? 0 : Math.max(1.5, (Number(count) / highest) * HEIGHT));
  const width = WIDTH / days.length;
  return (
    <svg
      className={styles.bars}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${USAGE.bars}: ${days[0]} to ${days.at(-1)}`}
    >
      <rect className={styles.ground} x={0} y={HEIGHT - 1} width={WIDTH} height={1} />
      {days.map((day, index) => {
        const count = tokens.get(day) ?? 0n;
        return (
          <g key={day}>
            <title>{`${day}: ${count.toLocaleString("en")}`}</title>
            <rect className={styles.day} x={index * width} y={0} width={width} height={HEIGHT} />
            <rect
              className={styles.count}
              x={index * width}
              y={HEIGHT - heightOf(count)}
              width={width * 0.8}
              height={heightOf(count)}
            />
          </g>
        );
      })}
      {budget > 0n && <rect className={styles.budget} x={0} y={HEIGHT - heightOf(budget)} width={WIDTH} height={1} />}
    </svg>
  );
}

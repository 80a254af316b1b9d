import type { DescMethodUnary } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { createQueryOptions, useTransport } from "@connectrpc/connect-query";
import { useQueries } from "@tanstack/react-query";
import { useWorkspace } from "../../rpc/use-session.ts";
import { HourlyBars, type HourlyCount } from "./hourly-bars.tsx";
import type { Column } from "./resource-list.tsx";

const POLL_MS = 60_000;
const MAX_IDS = 50;

interface Answer {
  firstHour?: Timestamp;
  counts: readonly (HourlyCount & { id: string })[];
}

interface Hours {
  firstHour: Timestamp;
  byId: ReadonlyMap<string, readonly HourlyCount[]>;
}

/** The last 24 hours of the rows of a list, one call for each page of rows. The RPC takes `ids`, and answers with `HourlyCount`s. */
export function useHourlyCounts(schema: DescMethodUnary, ids: readonly string[]): Hours | undefined {
  const workspace = useWorkspace();
  const transport = useTransport();
  // In an order of their own: rows that change places are not asked for again.
  const sorted = ids.toSorted();
  const pages = Array.from({ length: Math.ceil(sorted.length / MAX_IDS) }, (_, page) =>
    sorted.slice(page * MAX_IDS, (page + 1) * MAX_IDS),
  );
  const answers = useQueries({
    queries: pages.map((page) => ({
      ...createQueryOptions(schema, { workspace, ids: page } as never, { transport }),
      staleTime: POLL_MS,
      refetchInterval: POLL_MS,
      placeholderData: (before: unknown) => before as never,
    })),
  }).flatMap(({ data }) => (data ? [data as unknown as Answer] : []));
  const firstHour = answers.at(-1)?.firstHour;
  return (
    firstHour && {
      firstHour,
      byId: Map.groupBy(
        answers.flatMap(({ counts }) => counts),
        ({ id }) => id,
      ),
    }
  );
}

/** A column with the last 24 hours of each row. */
export function hourlyColumn<Row>(
  hours: Hours | undefined,
  header: string,
  read: { idOf: (row: Row) => string; labelOf: (row: Row) => string; maxCount?: number },
): Column<Row> {
  return {
    header,
    width: "88px",
    render: (row) =>
      hours && (
        <HourlyBars
          label={read.labelOf(row)}
          firstHour={hours.firstHour}
          counts={hours.byId.get(read.idOf(row)) ?? []}
          maxCount={read.maxCount}
        />
      ),
  };
}

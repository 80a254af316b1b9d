import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { useInfiniteQuery, useQuery } from "@connectrpc/connect-query";
import { useMemo, useState } from "react";

const POLL_MS = 3_000;
/** Rows that are loaded at a time. */
export const PAGE_SIZE = 50;

export interface List<Row> {
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** The first page has arrived. */
  isLoaded: boolean;
  isFetching: boolean;
  error: ConnectError | null;
  /** When the rows were last read, in milliseconds since 1970. */
  updatedAt: number;
  hasMore: boolean;
  loadMore: () => void;
  refresh: () => void;
  /** Rows at the top that are not shown, because the reader has scrolled or opened one. */
  newRows: number;
  /** Whether the list follows new rows now. */
  isLive: boolean;
  hold: (isHeld: boolean) => void;
}

interface ListOptions<O extends DescMessage, Row> {
  rowsOf: (page: MessageShape<O>) => readonly Row[];
  keyOf: (row: Row) => string;
  /** The reader is looking at one row: the others stay where they are. */
  isHeld?: boolean;
}

/**
 * The pages of a list that is read newest first. It follows what is new every 3 s while the reader is at its top; otherwise it
 * only counts. The RPC has `page_size`, `page_token` and `next_page_token`, or answers with the whole list.
 */
export function useList<I extends DescMessage, O extends DescMessage, Row>(
  schema: DescMethodUnary<I, O>,
  input: MessageInitShape<I>,
  { rowsOf, keyOf, isHeld = false }: ListOptions<O, Row>,
): List<Row> {
  const [isScrolled, hold] = useState(false);
  const request = { ...input, pageSize: PAGE_SIZE } as MessageInitShape<I>;
  const isLive = !isHeld && !isScrolled;
  const query = useInfiniteQuery(
    schema,
    { ...request, pageToken: "" } as never,
    {
      pageParamKey: "pageToken" as never,
      getNextPageParam: (page: MessageShape<O>) => (page as { nextPageToken?: string }).nextPageToken || undefined,
      refetchInterval: ({ state }: { state: { data?: { pages: unknown[] } } }) =>
        isLive && (state.data?.pages.length ?? 0) <= 1 ? POLL_MS : false,
      placeholderData: (before: unknown) => before,
    } as never,
  );
  const first = useQuery(schema, request, { enabled: !isLive && query.isSuccess, refetchInterval: POLL_MS, gcTime: 0 });
  const pages = query.data?.pages as readonly MessageShape<O>[] | undefined;
  // Rows that arrive while pages are read move others to the next page, where they come a second time.
  const rows = useMemo(() => {
    const byKey = new Map<string, Row>();
    for (const page of pages ?? [])
      for (const row of rowsOf(page)) if (!byKey.has(keyOf(row))) byKey.set(keyOf(row), row);
    return [...byKey.values()];
  }, [pages]);
  const newest = first.data ? rowsOf(first.data as MessageShape<O>) : [];
  const known = rows[0] && keyOf(rows[0]);
  // Since the newest rows were last counted, all rows may have been read again.
  const isCounted = first.dataUpdatedAt >= query.dataUpdatedAt;
  const found = newest.findIndex((row) => keyOf(row) === known);
  return {
    rows,
    keyOf,
    isLoaded: query.data !== undefined,
    isFetching: query.isFetching,
    error: query.error,
    updatedAt: query.dataUpdatedAt,
    hasMore: query.hasNextPage,
    loadMore: () => void (query.isFetching || query.fetchNextPage()),
    refresh: () => void query.refetch(),
    newRows: isLive || !isCounted ? 0 : found === -1 ? newest.length : found,
    isLive,
    hold,
  };
}

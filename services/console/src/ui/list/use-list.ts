import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { createConnectQueryKey, createQueryOptions, useInfiniteQuery, useTransport } from "@connectrpc/connect-query";
import { type InfiniteData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useLastAnswer } from "./use-last-answer.ts";

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
  /** Reads all loaded pages again. */
  refresh: () => void;
  /** Keeps only the first page, and reads it again. */
  restart: () => void;
  /** Rows at the top that are not shown, because the reader has scrolled, opened one, or read a second page. */
  newRows: number;
  /** Whether the list follows new rows now: false while it only counts them, and while it cannot be read. */
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
 * The pages of a list that is read newest first. While only the first is loaded and the reader is at its top, it is read again
 * every 3 s; otherwise its new rows are only counted. The RPC has `page_size`, `page_token` and `next_page_token`, or answers
 * with the whole list.
 */
export function useList<I extends DescMessage, O extends DescMessage, Row>(
  schema: DescMethodUnary<I, O>,
  input: MessageInitShape<I>,
  { rowsOf, keyOf, isHeld = false }: ListOptions<O, Row>,
): List<Row> {
  type Page = MessageShape<O>;
  const client = useQueryClient();
  const transport = useTransport();
  const [isScrolled, hold] = useState(false);
  const request = { ...input, pageSize: PAGE_SIZE } as MessageInitShape<I>;
  const paged = { ...request, pageToken: "" } as never;
  const pageParamKey = "pageToken" as never;
  const isAtTop = !isHeld && !isScrolled;
  const query = useInfiniteQuery(schema, paged, {
    pageParamKey,
    getNextPageParam: (page: Page) => (page as { nextPageToken?: string }).nextPageToken || undefined,
    refetchInterval: ({ state }: { state: { data?: { pages: unknown[] } } }) =>
      isAtTop && (state.data?.pages.length ?? 0) <= 1 ? POLL_MS : false,
    // All pages would be read, one after the other.
    refetchOnWindowFocus: false,
    // That the browser is offline is an error, which is shown.
    networkMode: "always",
  } as never);
  const isFollowed = isAtTop && (query.data?.pages.length ?? 0) <= 1;
  const isCounting = !isFollowed && query.data !== undefined;
  const options = createQueryOptions(schema, request, { transport });
  const first = useQuery<Page, ConnectError>({
    ...options,
    // Each reading of the list has a count of its own: an earlier one may know less than the list.
    queryKey: [...options.queryKey, query.dataUpdatedAt],
    enabled: isCounting,
    refetchInterval: POLL_MS,
    gcTime: 0,
    networkMode: "always",
  } as never);
  const answer = useLastAnswer<readonly Page[]>(query, query.data?.pages as readonly Page[] | undefined);
  const error = answer.error ?? (isCounting ? first.error : null);
  // Rows that arrive while pages are read move others to the next page, where they come a second time.
  const rows = useMemo(() => {
    const byKey = new Map<string, Row>();
    for (const page of answer.data ?? [])
      for (const row of rowsOf(page)) if (!byKey.has(keyOf(row))) byKey.set(keyOf(row), row);
    return [...byKey.values()];
  }, [answer.data]);
  const newest = first.data ? rowsOf(first.data) : [];
  const known = rows[0] && keyOf(rows[0]);
  const found = newest.findIndex((row) => keyOf(row) === known);
  return {
    rows,
    keyOf,
    isLoaded: answer.data !== undefined,
    isFetching: query.isFetching,
    error,
    updatedAt: answer.updatedAt,
    hasMore: query.hasNextPage,
    loadMore: () => void (query.isFetching || query.fetchNextPage()),
    refresh: () => void query.refetch(),
    restart: () => {
      const queryKey = createConnectQueryKey({
        schema,
        transport,
        input: paged,
        pageParamKey,
        cardinality: "infinite",
      });
      client.setQueryData(queryKey as readonly unknown[], firstOf, { updatedAt: query.dataUpdatedAt });
      void query.refetch();
    },
    newRows: !isCounting ? 0 : found === -1 ? newest.length : found,
    isLive: isFollowed && error === null && query.failureCount === 0,
    hold,
  };
}

const firstOf = (data: InfiniteData<unknown> | undefined) =>
  data && { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) };

import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import type { List } from "./use-list.ts";

const POLL_MS = 3_000;

interface WholeListOptions<O extends DescMessage, Row> {
  /** Filters and orders too. */
  rowsOf: (answer: MessageShape<O>) => readonly Row[];
  keyOf: (row: Row) => string;
  /** The reader is looking at one row: the others stay where they are. */
  isHeld?: boolean;
}

/** A list that comes in one answer. It is read again every 3 s while the reader is at its top. */
export function useWholeList<I extends DescMessage, O extends DescMessage, Row>(
  schema: DescMethodUnary<I, O>,
  input: MessageInitShape<I>,
  { rowsOf, keyOf, isHeld = false }: WholeListOptions<O, Row>,
): List<Row> {
  const [isScrolled, hold] = useState(false);
  const isLive = !isHeld && !isScrolled;
  const query = useQuery(schema, input, { refetchInterval: isLive && POLL_MS });
  return {
    rows: query.data ? rowsOf(query.data) : [],
    keyOf,
    isLoaded: query.data !== undefined,
    isFetching: query.isFetching,
    error: query.error,
    updatedAt: query.dataUpdatedAt,
    hasMore: false,
    loadMore: () => {},
    refresh: () => void query.refetch(),
    newRows: 0,
    isLive,
    hold,
  };
}

import type { Virtualizer } from "@tanstack/react-virtual";
import { type RefObject, useEffect, useRef } from "react";
import type { List } from "./use-list.ts";

const SAVE_POSITION_MS = 300;

interface PositionOptions<Row> {
  viewport: RefObject<HTMLDivElement | null>;
  virtual: Virtualizer<HTMLDivElement, Element>;
  rowPx: number;
  list: List<Row>;
  /** The first row in sight, as the URL has it. */
  at: number;
  onAt: (at: number | undefined) => void;
}

/** Goes to the position that the URL has, which may be some pages down, and keeps it there. Returns what each scroll calls. */
export function usePosition<Row>({ viewport, virtual, rowPx, list, at, onAt }: PositionOptions<Row>): () => void {
  const savedAt = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    if (at === savedAt.current) return;
    if (at < list.rows.length) {
      savedAt.current = at;
      virtual.scrollToIndex(at, { align: "start" });
    } else if (list.hasMore) list.loadMore();
  }, [at, list.rows.length, list.isFetching]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return () => {
    const top = viewport.current?.scrollTop ?? 0;
    list.hold(top > rowPx);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      const first = Math.ceil(top / rowPx);
      if (first === savedAt.current) return;
      savedAt.current = first;
      onAt(first || undefined);
    }, SAVE_POSITION_MS);
  };
}

import type { ConnectError } from "@connectrpc/connect";
import { useRef } from "react";

interface Reading {
  error: ConnectError | null;
  isSuccess: boolean;
  dataUpdatedAt: number;
}

interface Answer<T> {
  /** What was read last, perhaps for other filters. */
  data: T | undefined;
  updatedAt: number;
  /** Why it could not be read since. */
  error: ConnectError | null;
}

/** What a query has answered last: rows and errors stay until the next answer, also when its request changes. */
export function useLastAnswer<T>({ error, isSuccess, dataUpdatedAt }: Reading, data: T | undefined): Answer<T> {
  const last = useRef<Answer<T>>({ data: undefined, updatedAt: 0, error: null });
  if (data !== undefined) last.current = { ...last.current, data, updatedAt: dataUpdatedAt };
  if (error || isSuccess) last.current = { ...last.current, error };
  return last.current;
}

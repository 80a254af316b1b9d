/**
 * Reads of the same key in one turn of the event loop share one result. Only for callers that can do with a result from
 * slightly earlier in the turn.
 */
export function shareWithinTurn<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
  let reads = new Map<string, Promise<T>>();
  return (key) => {
    const started = reads.get(key);
    if (started) return started;
    if (reads.size === 0) {
      setImmediate(() => {
        reads = new Map();
      });
    }
    const result = read(key);
    reads.set(key, result);
    return result;
  };
}

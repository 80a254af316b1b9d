/**
 * The same reads of one turn of the event loop share a result. Only for callers that have waited for something else since
 * what they read had to be current: another caller may have started the read a little earlier.
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
